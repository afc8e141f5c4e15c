package srun

import "strings"

// Takes says whether an option has a value.
type Takes int

// Whether an option has a value: never, always, or only after = or in the same word.
const (
	Nothing Takes = iota
	Value         // --nodes=2, --nodes 2, -N2, -N 2
	Perhaps       // --exclusive, --exclusive=user; -K, -K1; never the next word
)

// The options of srun in all releases from 20.11 to 26.05 together. The letter after a colon is the short form.
const (
	flags = `async consolidate-segments contiguous disable-status:X exact help:h hold:H label:l multi-prog no-allocate:Z
overcommit:O oversubscribe:s parsable preserve-env:E quiet:Q quit-on-interrupt reboot spread-job spread-segments stepmgr test-only
unbuffered:u usage use-min-nodes verbose:v version:V wait-for-children whole`

	optional = `bcast compress exclusive external-launcher immediate:I kill-on-bad-exit:K nice no-kill:k oom-kill-step overlap propagate
pty resv-ports send-libs x11`

	valued = `accel-bind account:A acctg-freq autocomplete bb bbf bcast-exclude begin:b chdir:D cluster-constraint clusters:M comment
constraint:C container container-id container-type core-spec:S cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task:c deadline
delay-boot dependency:d distribution:m epilog error:e exclude:x export extra extra-node-info:B gid gpu-bind gpu-freq gpus:G gpus-per-node
gpus-per-socket gpus-per-task gres gres-flags het-group hint ignore-signals input:i job-name:J jobid licenses:L mail-type mail-user
mcs-label mem mem-bind mem-per-cpu mem-per-gpu mem-update mincpus mpi msg-timeout network nodefile:F nodelist:w nodes:N ntasks:n
ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres open-mode output:o partition:p power prefer priority
profile prolog qos:q relative:r reservation resources segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog
thread-spec threads:T threads-per-core time:t time-min tmp treewidth tres-bind tres-per-task uid wait:W wckey`
)

// aliases maps alternative names of options to the names that this package uses.
var aliases = map[string]string{
	"cpu_bind": "cpu-bind", "mem_bind": "mem-bind", "pack-group": "het-group", "tasks-per-node": "ntasks-per-node",
}

var (
	longNames  = map[string]Takes{}
	shortNames = map[byte]string{} // long names of the options, by letter
)

func init() {
	for takes, list := range map[Takes]string{Nothing: flags, Perhaps: optional, Value: valued} {
		for _, word := range strings.Fields(list) {
			name, letter, has := strings.Cut(word, ":")
			if longNames[name] = takes; has {
				shortNames[letter[0]] = name
			}
		}
	}
	for alias, name := range aliases {
		longNames[alias] = longNames[name]
	}
}
