/* Heat in a rod, by Jacobi's iteration. This MPI program can continue with another number of ranks.

   usage: heat CELLS ITERATIONS CHECKPOINT [HOSTS [GENERATION]]

   It begins with the state in the file CHECKPOINT, if that exists, and computes until ITERATIONS iterations are done in
   all. Then it writes CHECKPOINT and ends with status 0.

   HOSTS is the hosts file of a job that never calls `accordion step`. If it is given, the program reads it after every
   hundred iterations. If the job has other nodes than at the program's start, or is about to lose some, the program writes
   CHECKPOINT and ends with status 75. This means that it must be started again on the nodes of that file. GENERATION is the
   generation of the hosts file from which the program was started (ACCORDION_GENERATION). It is needed because the file may
   change before the program first reads it.

   The result is the same, bit for bit, for any number of ranks, and after any interruptions. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../hosts/hosts.h"

enum { LOOK = 100, AGAIN = 75 };

static int rank, ranks;
static long cells, first, count; /* this rank has the cells first … first + count - 1 */

static void fail(const char *what)
{
	fprintf(stderr, "heat: rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* generation returns the number of resizes in the hosts file, or -1 while there is no hosts file. Rank 0 reads it for all ranks. */
static int generation(const char *hosts)
{
	struct accordion_hosts h;
	int g = -1;

	if (rank == 0 && hosts && accordion_hosts_read(hosts, &h) == 0) {
		g = h.generation;
		accordion_hosts_free(&h);
	}
	MPI_Bcast(&g, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return g;
}

/* load reads this rank's cells from the checkpoint, and returns the number of iterations that the checkpoint contains. */
static long load(const char *name, double *u)
{
	long head[2] = { 0, 0 };
	FILE *f = fopen(name, "rb");
	long i;

	if (!f) { /* at the beginning the rod is cold except for one hot end */
		for (i = 0; i < count + 2; i++)
			u[i] = first + i == 0 ? 100 : 0;
		return 0;
	}
	if (fread(head, sizeof head, 1, f) != 1 || head[0] != cells)
		fail("the checkpoint is not of this rod");
	if (fseek(f, (long)sizeof head + first * (long)sizeof *u, SEEK_SET) || fread(u, sizeof *u, count + 2, f) != (size_t)count + 2)
		fail("the checkpoint is too short");
	fclose(f);
	return head[1];
}

/* save writes a new checkpoint and then renames it over the old one, so that a complete checkpoint exists at any time. */
static void save(const char *name, const double *u, long iteration)
{
	char next[4096];
	long head[2] = { cells, iteration };
	MPI_Offset at = (MPI_Offset)sizeof head + (first + 1) * (MPI_Offset)sizeof *u;
	long from = 1, n = count;
	MPI_File f;

	snprintf(next, sizeof next, "%s.next", name);
	if (rank == 0) { /* the first and the last rank also write the rod's two ends */
		from--, n++, at -= (MPI_Offset)sizeof *u;
	}
	if (rank == ranks - 1)
		n++;
	if (MPI_File_open(MPI_COMM_WORLD, next, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f) != MPI_SUCCESS)
		fail("the checkpoint cannot be written");
	if (rank == 0)
		MPI_File_write_at(f, 0, head, 2, MPI_LONG, MPI_STATUS_IGNORE);
	if (MPI_File_write_at_all(f, at, u + from, (int)n, MPI_DOUBLE, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		fail("the checkpoint cannot be written");
	MPI_File_close(&f);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && rename(next, name) != 0)
		fail("the checkpoint cannot be renamed");
}

/* iterate computes one iteration from u to v, with the neighbours' cells at both ends. */
static void iterate(double *u, double *v)
{
	int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
	long i;

	MPI_Sendrecv(u + 1, 1, MPI_DOUBLE, left, 0, u + count + 1, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(u + count, 1, MPI_DOUBLE, right, 1, u, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	v[0] = u[0];
	v[count + 1] = u[count + 1];
	for (i = 1; i <= count; i++)
		v[i] = 0.5 * (u[i - 1] + u[i + 1]);
}

int main(int argc, char **argv)
{
	const char *node = getenv("SLURMD_NODENAME"), *hosts = argc > 4 ? argv[4] : NULL;
	double *u, *v, *t;
	long iteration, last = 0, begun;
	int before, told;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc < 4 || (cells = atol(argv[1])) < ranks || (last = atol(argv[2])) < 0)
		fail("usage: heat CELLS ITERATIONS CHECKPOINT [HOSTS [GENERATION]], and at least one cell a rank");
	first = cells * rank / ranks;
	count = cells * (rank + 1) / ranks - first;
	u = calloc((size_t)count + 2, sizeof *u);
	v = calloc((size_t)count + 2, sizeof *v);
	if (!u || !v)
		fail("no memory");

	told = generation(hosts);
	before = argc > 5 ? atoi(argv[5]) : told;
	if (told < 0)
		told = before;
	begun = iteration = load(argv[3], u);
	printf("iteration %ld: rank %d of %d on %s\n", iteration, rank, ranks, node ? node : "?");
	fflush(stdout);
	while (iteration < last && told == before) {
		iterate(u, v);
		t = u, u = v, v = t;
		if (++iteration % LOOK == 0) {
			if (hosts)
				usleep(200000); /* so that this little rod takes some time */
			if ((told = generation(hosts)) < 0)
				told = before;
		}
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (iteration > begun)
		save(argv[3], u, iteration);
	if (rank == 0)
		printf("iteration %ld: %s\n", iteration, iteration < last ? "the nodes change" : "done");
	MPI_Finalize();
	return iteration < last ? AGAIN : 0;
}
