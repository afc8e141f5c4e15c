#include "span.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char duration_form[] =
	"a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS";

/* The library's isspace and isdigit follow the locale; these do not. */
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool has_space(struct span s)
{
	for (size_t i = 0; i < s.length; i++)
		if (is_space(s.at[i]))
			return true;
	return false;
}

void skip(struct span *s, size_t bytes)
{
	s->at += bytes;
	s->length -= bytes;
}

bool cut(struct span *s, char separator, struct span *head)
{
	*head = *s;
	const char *found = s->length > 0 ? memchr(s->at, separator, s->length) : NULL;
	if (!found) {
		skip(s, s->length);
		return false;
	}
	head->length = (size_t)(found - s->at);
	skip(s, head->length + 1);
	return true;
}

bool number(struct span *s, int64_t *n)
{
	size_t digits = 0;
	for (*n = 0; digits < s->length && is_digit(s->at[digits]); digits++) {
		*n = 10 * *n + (s->at[digits] - '0');
		if (*n > 10 * MAX_TOTAL)
			*n = 10 * MAX_TOTAL;
	}
	skip(s, digits);
	return digits > 0;
}

bool whole(struct span s, int64_t *n) { return number(&s, n) && s.length == 0; }

/* units reads 2d, 1h30m, 500s: each unit once at most, the larger first. */
static bool units(struct span text, int64_t *sum)
{
	static const struct {
		char letter;
		int64_t seconds;
	} unit[] = { { 'd', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
	const size_t last = sizeof unit / sizeof *unit;
	size_t next = 0; /* the largest that may still come */
	int64_t n;

	for (*sum = 0; text.length > 0; next++) {
		if (!number(&text, &n) || text.length == 0)
			return false;
		while (next < last && unit[next].letter != *text.at)
			next++;
		if (next == last)
			return false;
		*sum += n * unit[next].seconds;
		skip(&text, 1);
	}
	return next > 0;
}

/* clock_time reads Slurm's MM:SS, HH:MM:SS and D-HH:MM:SS. */
static bool clock_time(struct span text, int64_t *sum)
{
	struct span days = { "0", 1 }, field;
	const bool with_days = text.length > 0 && memchr(text.at, '-', text.length);
	int64_t carried, n;
	int fields = 0;
	bool more;

	if (with_days)
		cut(&text, '-', &days);
	if (!whole(days, &carried))
		return false;
	*sum = 0;
	do {
		more = cut(&text, ':', &field);
		if (++fields > 3 || !whole(field, &n))
			return false;
		if (fields > 1 && (field.length != 2 || n > 59))
			return false;
		if (fields == 1 && with_days && (field.length > 2 || n > 23))
			return false;
		*sum = 60 * *sum + n + (fields == 1 ? 24 * carried : 0);
	} while (more);
	return fields == 3 || (fields == 2 && !with_days);
}

bool duration(struct span text, int64_t *seconds)
{
	const bool clock = text.length > 0 && memchr(text.at, ':', text.length);
	return (clock ? clock_time(text, seconds) : units(text, seconds)) && *seconds > 0 && *seconds <= MAX_TOTAL;
}

/* A unit of time, and the words that users write for it. */
static const struct {
	int64_t seconds;
	const char *words[5];
} loose_units[] = {
	{ 86400, { "d", "day", "days" } },
	{ 3600, { "h", "hr", "hrs", "hour", "hours" } },
	{ 60, { "m", "min", "mins", "minute", "minutes" } },
	{ 1, { "s", "sec", "secs", "second", "seconds" } },
};
#define LOOSE_UNITS (sizeof loose_units / sizeof *loose_units)

/* loose_unit returns the index of a word's unit, or LOOSE_UNITS. */
static size_t loose_unit(struct span word)
{
	size_t unit = 0;

	for (; unit < LOOSE_UNITS; unit++)
		for (size_t i = 0; i < 5 && loose_units[unit].words[i]; i++)
			if (strlen(loose_units[unit].words[i]) == word.length &&
			    strncasecmp(loose_units[unit].words[i], word.at, word.length) == 0)
				return unit;
	return unit;
}

/* loose_number reads 1, 1.5 or .5 of a unit, in whole seconds. */
static bool loose_number(struct span text, int64_t unit, int64_t *seconds)
{
	struct span places = text, before;
	int64_t n = 0, part = 0, one = 1;
	const bool dot = cut(&places, '.', &before);

	if (before.length > 9 || places.length > 6 || before.length + places.length == 0 || (dot && places.length == 0))
		return false;
	if ((before.length > 0 && !whole(before, &n)) || (places.length > 0 && !whole(places, &part)))
		return false;
	for (size_t i = 0; i < places.length; i++)
		one *= 10;
	*seconds = n * unit + part * unit / one;
	return part * unit % one == 0;
}

/* front returns what is before the first byte that is not one of the kind, and cuts it off with the white space behind it. */
static struct span front(struct span *s, bool (*kind)(char))
{
	struct span head = *s;
	for (head.length = 0; head.length < s->length && kind(s->at[head.length]);)
		head.length++;
	skip(s, head.length);
	*s = trimmed(*s);
	return head;
}

static bool in_number(char c) { return is_digit(c) || c == '.'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* loose_duration reads 1.5h, 20 min and 1 H 30 M. */
static bool loose_duration(struct span text, int64_t *sum)
{
	size_t next = 0; /* the largest unit that may still come */
	int64_t seconds;

	for (*sum = 0; text.length > 0; next++) {
		const struct span digits = front(&text, in_number);
		const size_t unit = loose_unit(front(&text, is_letter));
		if (unit < next || unit == LOOSE_UNITS || !loose_number(digits, loose_units[unit].seconds, &seconds))
			return false;
		*sum += seconds;
		next = unit;
	}
	return *sum > 0 && *sum <= MAX_TOTAL;
}

bool tidy_step(struct span piece, char line[TIDY_ROOM])
{
	const size_t all = piece.length;
	struct span nodes = { piece.at, 0 }, length = piece;
	int64_t n, seconds;
	int used;

	while (nodes.length < all && !strchr("xX*\xc3", nodes.at[nodes.length]))
		nodes.length++;
	skip(&length, nodes.length);
	if (length.length > 1 && memcmp(length.at, "\xc3\x97", 2) == 0)
		skip(&length, 2);
	while (length.length > 0 && *length.at && strchr("xX*", *length.at))
		skip(&length, 1);
	if (all > SHOWN || nodes.length + length.length == all)
		return false;
	nodes = trimmed(nodes);
	length = trimmed(length);
	if (!whole(nodes, &n) || n < 1 || n > MAX_NODES)
		return false;
	used = snprintf(line, TIDY_ROOM, "%.*sx", (int)nodes.length, nodes.at);
	if (duration(length, &seconds)) {
		snprintf(line + used, TIDY_ROOM - used, "%.*s", (int)length.length, length.at);
	} else if (loose_duration(length, &seconds)) {
		for (size_t i = 0; i < LOOSE_UNITS; i++) {
			const int64_t each = seconds / loose_units[i].seconds;
			if (each > 0)
				used += snprintf(line + used, TIDY_ROOM - used, "%lld%s", (long long)each, loose_units[i].words[0]);
			seconds %= loose_units[i].seconds;
		}
	} else {
		return false;
	}
	return strlen(line) != all || memcmp(line, piece.at, all) != 0;
}

bool decimal(struct span text, int64_t least, int64_t most, int64_t *millionths)
{
	struct span places = text, whole_part;
	int64_t n, fraction = 0;
	const bool dot = cut(&places, '.', &whole_part);

	if (!whole(whole_part, &n) || whole_part.length > 7)
		return false;
	if (dot && (!whole(places, &fraction) || places.length > 6))
		return false;
	for (size_t digits = dot ? places.length : 6; digits < 6; digits++)
		fraction *= 10;
	*millionths = n * 1000000 + fraction;
	return *millionths >= least && *millionths <= most;
}

struct span trimmed(struct span s)
{
	while (s.length > 0 && is_space(*s.at))
		skip(&s, 1);
	while (s.length > 0 && is_space(s.at[s.length - 1]))
		s.length--;
	return s;
}

const char *shown(struct span piece, char line[SHOWN_ROOM])
{
	const size_t length = piece.length < SHOWN ? piece.length : SHOWN;
	char *to = line;

	*to++ = '"';
	for (size_t i = 0; i < length; i++) {
		const char c = piece.at[i];
		if (c < ' ' || c > '~') {
			to += snprintf(to, 5, "\\x%02x", (unsigned char)c);
			continue;
		}
		if (c == '"' || c == '\\')
			*to++ = '\\';
		*to++ = c;
	}
	strcpy(to, piece.length > SHOWN ? "\"..." : "\"");
	return line;
}
