/*
 * Accordion's SPANK plug-in: options --ep and --mold of sbatch, salloc and srun, on the command line and in #SBATCH
 * lines.
 *
 *	#SBATCH --ep=5x500s,10x1h
 *	#SBATCH --mold=4x2h|8x70m|16x40m
 *
 * The plug-in does not parse the values. Slurm sends them to slurmctld as _SLURM_SPANK_OPTION_accordion_ep=... in the
 * job's spank_job_env. There job_submit.lua parses them like an #EP line, or rejects them. On compute nodes the plug-in
 * does nothing.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

/* Symbols are hidden, so that they do not clash with those of the client program. Only these symbols are visible, because Slurm
 * looks them up. */
#pragma GCC visibility push(default)
#include <slurm/spank.h>
SPANK_PLUGIN(accordion, 1)
#pragma GCC visibility pop

static struct spank_option options[] = {
	{ "ep", "NODESxDURATION,...", "evolving job: its evolution profile, such as 5x500s,10x1h", 1, 0, NULL },
	{ "mold", "NODESxDURATION|...", "moldable job: its configurations, such as 4x2h|8x70m", 1, 0, NULL },
};

/* forget_outer removes the options of the surrounding job, if there is one, from the environment. Otherwise sbatch and
 * srun inside an evolving job would use these options, too. */
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

/* A table spank_options[] would work only in srun. slurmstepd must also know the options. Otherwise it reports them as unknown.
 * sbatch and salloc have the allocator context, and srun has the local one. Other contexts are those of slurmd and its
 * children. */
int slurm_spank_init(spank_t spank, int argc, char *argv[])
{
	const spank_context_t here = spank_context();

	(void)argc, (void)argv;
	if (here == S_CTX_ALLOCATOR || here == S_CTX_LOCAL)
		forget_outer();
	else if (here != S_CTX_REMOTE)
		return ESPANK_SUCCESS;
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		const spank_err_t err = spank_option_register(spank, &options[i]);
		if (err != ESPANK_SUCCESS) {
			slurm_error("accordion: option --%s: %s", options[i].name, spank_strerror(err));
			return err;
		}
	}
	return ESPANK_SUCCESS;
}
