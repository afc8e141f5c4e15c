#include "model.h"

#include <string.h>

#define MILLION INT64_C(1000000)

/* A parameter is a decimal number that one of the models has before t1 and nodes, which all have. */
struct parameter {
	const char *name;    /* with its equals sign; NULL after the last */
	int64_t least, most; /* millionths */
	const char *form;
};

static const struct model {
	const char *word, *form;
	struct parameter parameters[3];
} models[] = {
	{ "amdahl",
	  "amdahl:p=SHARE,t1=DURATION,nodes=FROM-TO, such as amdahl:p=0.99,t1=10h,nodes=1-256",
	  { { "p=", 0, MILLION, "a share from 0 to 1 with at most six places, as in p=0.99" } } },
	{ "downey",
	  "downey:a=PARALLELISM,sigma=NUMBER,t1=DURATION,nodes=FROM-TO, such as downey:a=64,sigma=1,t1=10h,nodes=1-128^2",
	  { { "a=", MILLION, MAX_NODES * MILLION, "an average parallelism of at least 1 with at most six places, as in a=64" },
	    { "sigma=", 0, 1000 * MILLION, "a number from 0 to 1000 with at most six places, as in sigma=1" } } },
};

static bool is_word(struct span s)
{
	for (size_t i = 0; i < s.length; i++)
		if (s.at[i] < 'a' || s.at[i] > 'z')
			return false;
	return s.length > 0;
}

static bool equal(struct span s, const char *text)
{
	return s.length == strlen(text) && memcmp(s.at, text, s.length) == 0;
}

/* after takes a parameter's name off the front. */
static bool after(struct span *s, const char *name)
{
	const size_t length = strlen(name);
	if (s->length < length || memcmp(s->at, name, length) != 0)
		return false;
	skip(s, length);
	return true;
}

bool is_model(struct span body)
{
	struct span word;
	return cut(&body, ':', &word) && is_word(word);
}

/* check_range reads FROM-TO, or FROM-TO^2 for the powers of two among them. */
static const char *check_range(struct span text)
{
	static const char form[] =
		"a range of sizes from 1 to 1000000, as in nodes=1-256, or nodes=1-256^2 for powers of two";
	struct span first;
	int64_t from, to, power = 1;

	const bool powers = text.length >= 2 && memcmp(text.at + text.length - 2, "^2", 2) == 0;
	if (powers)
		text.length -= 2;
	if (!cut(&text, '-', &first) || !whole(first, &from) || !whole(text, &to))
		return form;
	if (from < 1 || from > MAX_NODES || to > MAX_NODES || from > to)
		return form;
	if (!powers)
		return to - from < MAX_CHOICES
			       ? NULL
			       : "a range of at most 256 sizes: narrow it, or end it with ^2 for powers of two";
	while (power < from)
		power *= 2;
	return power <= to ? NULL : "a range with a power of two in it, as in nodes=1-256^2";
}

/* well_formed says whether the parameters are there, all of them, in their order, and nothing else. Their values go
 * into values: those of the model, t1, nodes. */
static bool well_formed(const struct model *m, struct span rest, struct span values[5], int *count)
{
	bool more = true;

	*count = 0;
	for (const struct parameter *p = m->parameters; p->name; p++, ++*count)
		if (!more || (more = cut(&rest, ',', &values[*count]), !after(&values[*count], p->name)))
			return false;
	for (int i = 0; i < 2; i++, ++*count)
		if (!more || (more = cut(&rest, ',', &values[*count]), !after(&values[*count], i == 0 ? "t1=" : "nodes=")))
			return false;
	return !more;
}

const char *check_model(struct span body, struct span *piece)
{
	const struct model *m = models, *end = models + sizeof models / sizeof *models;
	struct span word, values[5];
	int64_t n;
	int count;

	cut(&body, ':', &word);
	while (m < end && !equal(word, m->word))
		m++;
	if (m == end) {
		*piece = word;
		return "a model: amdahl or downey";
	}
	if (!well_formed(m, body, values, &count)) {
		*piece = body;
		return m->form;
	}
	for (int i = 0; i < count - 2; i++) {
		*piece = values[i];
		if (!decimal(values[i], m->parameters[i].least, m->parameters[i].most, &n))
			return m->parameters[i].form;
	}
	*piece = values[count - 2];
	if (!duration(*piece, &n))
		return duration_form;
	*piece = values[count - 1];
	return check_range(*piece);
}
