/*
 * The text form of a request, as a user writes it after --ep= or --mold=.
 *
 * The grammar, its limits and its words are those of core/evolve and core/mold (Go) and of job_submit.lua; a test
 * compares the three. Nothing here knows Slurm, allocates memory, or depends on the locale.
 */
#ifndef ACCORDION_REQUEST_H
#define ACCORDION_REQUEST_H

/* What may be requested. */
enum request_kind {
	REQUEST_EP,   /* an evolution profile, 5x500s,10x1h, or alternatives: 2x1h,8x1h|4x40m,16x40m */
	REQUEST_MOLD, /* moldable configurations, 4x2h|8x70m, or a model: amdahl:p=0.99,t1=10h,nodes=1-256 */
};

/* Bytes that hold every line of request_check, its end included. */
#define REQUEST_WHY 512

/*
 * request_check reads a text and returns 0 when the planner takes it. Otherwise it returns -1, and why holds one line
 * of printable ASCII that names the wrong piece and the right form; a NULL text is an empty one.
 */
int request_check(enum request_kind kind, const char *text, char why[REQUEST_WHY]);

#endif
