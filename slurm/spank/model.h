/*
 * Speed-up models of moldable jobs: amdahl:p=0.99,t1=10h,nodes=1-256 and downey:a=64,sigma=1,t1=10h,nodes=1-128^2. Here
 * they are read, not used; the Go side of it is core/mold.
 */
#ifndef ACCORDION_MODEL_H
#define ACCORDION_MODEL_H

#include "span.h"

#define MAX_CHOICES 256 /* configurations of a moldable job, and alternatives of an evolving one */

/* is_model says whether the text is meant as a model: a word before a colon, which no duration could be. */
bool is_model(struct span body);

/* check_model returns NULL for a right model, else what would be right in place of the piece. */
const char *check_model(struct span body, struct span *piece);

#endif
