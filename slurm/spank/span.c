#include "span.h"

#include <stdio.h>
#include <string.h>

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
