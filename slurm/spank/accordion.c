/*
 * Accordion's SPANK plug-in: options --ep and --mold of sbatch, salloc and srun, on the command line and in #SBATCH
 * lines.
 *
 *	#SBATCH --ep=5x500s,10x1h
 *	#SBATCH --mold=4x2h|8x70m|16x40m
 *
 * It refuses a wrong text in the client, in one line, before anything is sent. A right one reaches job_submit.lua, which
 * does with it what it does with an #EP line, by the way all SPANK options go: as _SLURM_SPANK_OPTION_accordion_ep=...
 * in the job's spank_job_env. It does nothing on compute nodes.
 */
#define _POSIX_C_SOURCE 200809L

#include "request.h"

#include <stdbool.h>
#include <stdlib.h>

/* Everything is compiled hidden, so that no name of ours meets one of the client's; Slurm looks these up. */
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(accordion, 1)
#pragma GCC visibility pop

/* in_client: sbatch and salloc are the allocator, srun is local; the rest is slurmd and what it starts. */
static bool in_client(void)
{
	const spank_context_t here = spank_context();
	return here == S_CTX_ALLOCATOR || here == S_CTX_LOCAL;
}

/* refuse ends the client. Slurm's own way out, a callback that fails, would print the user's whole text once more,
 * unquoted; so far nothing has been sent or changed. */
static void refuse(const char *option, const char *why)
{
	slurm_error("accordion: %s%s%s", option, *option ? ": " : "", why);
	exit(1);
}

/* take is called for each --ep and --mold: those of the script first, then those of the command line, which win. */
static int take(int kind, const char *text, int remote)
{
	static bool given[2];
	char why[REQUEST_WHY];

	if (remote || !in_client())
		return ESPANK_SUCCESS;
	given[kind] = true;
	if (given[REQUEST_EP] && given[REQUEST_MOLD])
		refuse("", "--ep and --mold in one job: a job is either evolving or moldable");
	if (request_check(kind, text, why) != 0)
		refuse(kind == REQUEST_EP ? "--ep" : "--mold", why);
	return ESPANK_SUCCESS;
}

static struct spank_option options[] = {
	{ "ep", "NODESxDURATION,...", "evolving job: its evolution profile, such as 5x500s,10x1h", 1, REQUEST_EP, take },
	{ "mold", "NODESxDURATION|...", "moldable job: its configurations, such as 4x2h|8x70m", 1, REQUEST_MOLD, take },
};

/* forget_outer: a job's options are in its environment, where the clients that it runs itself would find them. What an
 * evolving job submits is no evolving job unless it says so. */
static void forget_outer(void)
{
	static const char *const names[] = {
		"_SLURM_SPANK_OPTION_accordion_ep",
		"_SLURM_SPANK_OPTION_accordion_mold",
		"SLURM_SPANK__SLURM_SPANK_OPTION_accordion_ep",
		"SLURM_SPANK__SLURM_SPANK_OPTION_accordion_mold",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
}

/* A table spank_options[] would serve srun only. slurmstepd must know the options too, or it complains of them. */
int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	(void)argc, (void)argv;
	if (!in_client() && spank_context() != S_CTX_REMOTE)
		return ESPANK_SUCCESS;
	if (in_client())
		forget_outer();
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const spank_err_t err = spank_option_register(spank, &options[i]);
		if (err != ESPANK_SUCCESS) {
			slurm_error("accordion: option --%s: %s", options[i].name, spank_strerror(err));
			return err;
		}
	}
	return ESPANK_SUCCESS;
}
