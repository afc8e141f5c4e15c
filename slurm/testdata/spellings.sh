# shellcheck shell=bash
# Tries to name another user's job in requests to Slurm, in many spellings and with every client. Runs as the user, with bash.
#
# Argument: WAITING, a job of the user's own. Input: one case a line, CLIENT VERB TEXT separated by \x1f.
# Output: for each case its exit status and the client's output, on one line; then "changed" if squeue shows a change.
waiting=$1

sep=$'\x1f'
job=(-N1 -n1 -t1 -p main)

# rest_version: the newest data parser, or the newest plug-in of releases without them.
parsers=$(slurmrestd -d list 2>&1)
if [[ $parsers =~ data_parser/v ]]; then
	version=$(grep -oE 'data_parser/v0\.0\.[0-9]+' <<<"$parsers" | sort -V | tail -n 1 | cut -d/ -f2)
	plugins=(-s openapi/slurmctld -d "$version")
	shape='{"job":{"name":"m","partition":"main","tasks":1,"nodes":"1","time_limit":1,"current_working_directory":"/tmp","environment":["PATH=/bin"],"script":"#!/bin/sh\n","%s":"%s"}}'
else
	version=$(slurmrestd -s list 2>&1 | grep -oE 'openapi/v0\.0\.[0-9]+' | sort -V | tail -n 1 | cut -d/ -f2)
	plugins=(-s "openapi/$version")
	shape='{"job":{"name":"m","partition":"main","tasks":1,"nodes":[1,1],"time_limit":1,"current_working_directory":"/tmp","environment":{"PATH":"/bin"},"%s":"%s"},"script":"#!/bin/sh\n"}'
fi

# rest FIELD TEXT: submits by slurmrestd; status 0 if it answers 200.
rest() {
	local body said
	body=${shape/'%s'/$1}
	body=${body/'%s'/${2//$'\t'/\\t}}
	said=$(printf 'POST /slurm/%s/job/submit HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: %d\r\nConnection: Close\r\n\r\n%s' \
		"$version" "${#body}" "$body" | timeout -k 1 5 slurmrestd -a rest_auth/local "${plugins[@]}" 2>&1)
	echo "${said#*accepted connection from }"
	[[ $said == *"HTTP/1.1 200"* ]]
}

# submit OPTION...: a script that ends at once.
submit() { printf '#!/bin/sh\n' | timeout -k 1 5 sbatch "${job[@]}" "$@"; }

# line OPTION: the option in a line of the script.
line() { printf '#!/bin/sh\n#SBATCH %s\n' "$1" | timeout -k 1 5 sbatch "${job[@]}"; }

say() {
	local client=$1 verb=$2 text=$3 option name
	case $verb in
	dependency) option=--dependency=$text name=Dependency ;;
	reservation) option=--reservation=$text name=ReservationName ;;
	name) option=--job-name=$text name=JobName ;;
	esac
	case $client:$verb in
	sbatch:*) submit "$option" ;;
	line:*) line "${option%%=*}=\"$text\"" ;;
	salloc:*) timeout -k 1 5 salloc "${job[@]}" "$option" true ;;
	srun:*) timeout -k 1 5 srun "${job[@]}" "$option" true ;;
	update:*) scontrol update "JobId=$waiting" "$name=$text" ;;
	rest:*) rest "$verb" "$text" ;;
	sbatch-environment:reservation) SBATCH_RESERVATION=$text submit ;;
	sbatch-environment:name) SBATCH_JOB_NAME=$text submit ;;
	salloc-environment:reservation) SALLOC_RESERVATION=$text timeout -k 1 5 salloc "${job[@]}" true ;;
	srun-environment:dependency) SLURM_DEPENDENCY=$text timeout -k 1 5 srun "${job[@]}" true ;;
	srun-environment:reservation) SLURM_RESERVATION=$text timeout -k 1 5 srun "${job[@]}" true ;;
	srun-environment:name) SLURM_JOB_NAME=$text timeout -k 1 5 srun "${job[@]}" true ;;
	*) echo "no such cell" && return 99 ;;
	esac
}

# steady: all jobs, but for what time changes of them.
steady() { squeue -h -a -S i -o '%A %u %j %t %D %N %v %E %l %k'; }

before=$(steady)
while IFS=$sep read -r client verb text; do
	said=$(say "$client" "$verb" "$text" 2>&1 </dev/null)
	status=$?
	said=${said//[$'\r\n']/; }
	now=$(steady)
	echo "$status$sep${said:0:600}$sep$([[ $now == "$before" ]] || echo "changed from ${before//$'\n'/; } to ${now//$'\n'/; }")"
	before=$now
done
