/*
 * Reading pieces of a user's text: numbers, durations, and how a wrong piece is shown. The Go side of it is core/text.go.
 */
#ifndef ACCORDION_SPAN_H
#define ACCORDION_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_NODES 1000000
#define MAX_TOTAL (INT64_C(3650) * 86400) /* seconds */
#define SHOWN 40                          /* bytes of a wrong piece that are shown */
#define SHOWN_ROOM (4 * SHOWN + 6)        /* each of them as \xNN, the quotes, the dots, the end */

/* A span is a stretch of the user's text; it owns nothing and does not end with a zero. */
struct span {
	const char *at;
	size_t length;
};

/* skip cuts bytes off the front. */
void skip(struct span *s, size_t bytes);

/* cut moves what stands before the first separator into head, and leaves in s what follows it. Without a separator
 * head is all of s, and the answer is false. */
bool cut(struct span *s, char separator, struct span *head);

/* has_space reports whether there is white space in a span. */
bool has_space(struct span s);

/* trimmed is a span without the white space at its ends. */
struct span trimmed(struct span s);

/* number takes the digits off the front. What is beyond every limit stays beyond it and does not overflow. */
bool number(struct span *s, int64_t *n);

/* whole reads a number and nothing else. */
bool whole(struct span s, int64_t *n);

/* decimal reads a number with at most six places, in millionths, from least to most. */
bool decimal(struct span text, int64_t least, int64_t most, int64_t *millionths);

/* What a duration is, for the user. */
extern const char duration_form[];

/* duration reads seconds, 1 to MAX_TOTAL: 2d, 1h30m, 500s, or Slurm's MM:SS, HH:MM:SS and D-HH:MM:SS. */
bool duration(struct span text, int64_t *seconds);

#define TIDY_ROOM 64

/* tidy_step writes into line how a piece of at most SHOWN bytes, such as 8X1h, 2 x 20min or 4*1.5h, is written: 8x1h. It is for
 * messages. It reports false for what it does not understand, and for what is written like that. core/loose.go has the
 * same; a test compares the two. */
bool tidy_step(struct span piece, char line[TIDY_ROOM]);

/* shown quotes foreign text for one line: printable ASCII, and cut when it is long. It returns line. */
const char *shown(struct span piece, char line[SHOWN_ROOM]);

#endif
