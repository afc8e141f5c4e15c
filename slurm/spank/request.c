#include "request.h"

#include "model.h"
#include "span.h"

#include <stdio.h>
#include <string.h>

#define MAX_TEXT 65536 /* bytes; job_submit.lua takes no more either */
#define MAX_STEPS 1024 /* of a job, in all alternatives, as written */

/* A verdict is what would be right in place of a piece; a want of NULL finds nothing wrong. */
struct verdict {
	const char *want;
	struct span piece;
	struct span step; /* of which the piece is a part, or it */
};

static const char step_form[] = "NODESxDURATION, such as 5x500s or 10x1h30m";
static const char unbroken_form[] =
	"NODESxDURATION: no blanks after the comma or anywhere else, as in 5x500s,10x1h";
static const char nodes_form[] = "a number of nodes from 1 to 1000000, as in 5x500s";

/* check_step reads NODESxDURATION. */
static struct verdict check_step(struct span piece, int64_t *nodes, int64_t *seconds)
{
	struct span digits, lasts = piece;

	if (has_space(piece))
		return (struct verdict){ unbroken_form, piece, piece };
	if (!cut(&lasts, 'x', &digits))
		return (struct verdict){ step_form, piece, piece };
	if (!whole(digits, nodes) || *nodes < 1 || *nodes > MAX_NODES)
		return (struct verdict){ nodes_form, digits, piece };
	if (!duration(lasts, seconds))
		return (struct verdict){ duration_form, lasts, piece };
	return (struct verdict){ NULL, piece, { 0 } };
}

/* check_profile reads one profile, 5x500s,10x1h, and counts its steps. */
static struct verdict check_profile(struct span text, int *steps)
{
	struct span rest = trimmed(text), piece;
	int64_t nodes, seconds, total = 0;
	bool more;

	do {
		more = cut(&rest, ',', &piece);
		const struct verdict v = check_step(piece, &nodes, &seconds);
		if (v.want)
			return v;
		total += seconds;
		if (total > MAX_TOTAL)
			return (struct verdict){ "within the longest total, 3650 days", piece, { 0 } };
		if (++*steps > MAX_STEPS)
			return (struct verdict){ "within the 1024 steps that a job may have", piece, { 0 } };
	} while (more);
	return (struct verdict){ NULL, text, { 0 } };
}

/* check_profiles reads alternatives of whole profiles, 2x1h,8x1h|4x40m,16x40m. */
static struct verdict check_profiles(struct span rest)
{
	struct span profile;
	int steps = 0;
	bool more;

	for (int alternatives = 1;; alternatives++) {
		more = cut(&rest, '|', &profile);
		if (alternatives > MAX_CHOICES)
			return (struct verdict){ "within the 256 alternatives that a job may have", profile, { 0 } };
		const struct verdict v = check_profile(profile, &steps);
		if (v.want || !more)
			return v;
	}
}

/* check_choices reads configurations, 4x2h|8x70m, or a speed-up model. */
static struct verdict check_choices(struct span text)
{
	struct span rest = trimmed(text), piece;
	int64_t nodes, seconds;
	bool more;

	if (is_model(rest)) {
		struct verdict v = { NULL, rest, { 0 } };
		v.want = check_model(rest, &v.piece);
		return v;
	}
	for (int choices = 1;; choices++) {
		more = cut(&rest, '|', &piece);
		const struct verdict v = check_step(piece, &nodes, &seconds);
		if (v.want)
			return v;
		if (choices > MAX_CHOICES)
			return (struct verdict){ "within the 256 configurations that a job may have", piece, { 0 } };
		if (!more)
			return v;
	}
}

int request_check(enum request_kind kind, const char *text, char why[REQUEST_WHY])
{
	const bool evolving = kind == REQUEST_EP;
	const char *name = evolving ? "evolution profile" : "moldable configurations";
	const struct span all = { text ? text : "", text ? strlen(text) : 0 };
	char line[SHOWN_ROOM], tidy[TIDY_ROOM];

	if (all.length > MAX_TEXT) {
		snprintf(why, REQUEST_WHY, "%s, %s is longer than %d bytes: write %s", name, shown(all, line), MAX_TEXT,
			 evolving ? "5x500s,10x1h" : "4x2h|8x70m|16x40m");
		return -1;
	}
	const struct verdict v = evolving ? check_profiles(all) : check_choices(all);
	if (!v.want)
		return 0;
	const bool rather = tidy_step(v.step, tidy);
	snprintf(why, REQUEST_WHY, "%s, column %zu: %s is not %s%s%s", name, (size_t)(v.piece.at - all.at) + 1,
		 shown(v.piece, line), v.want, rather ? "; write " : "", rather ? tidy : "");
	return -1;
}
