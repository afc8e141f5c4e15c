# shellcheck shell=bash
# The second level of tests: the first level with the race detector, lint, a real Slurm and a real OAR, packages,
# browsers and Prometheus. Sourced by scripts/test.

# shellcheck source=install.sh
. scripts/lab/install.sh
# shellcheck source=release.sh
. scripts/lab/release.sh
# shellcheck source=versions.sh
. scripts/lab/versions.sh

seeds=(-timeout 30m -accordion.seeds=8500 -accordion.parts=8500) # 10,000 stories of applications take 5 minutes of processor time
[[ ! $long ]] || seeds=(-timeout 24h -accordion.long)
declare -A lanes # the name of each lane, by process number
reds=${ACCORDION_TEST_REDS:-${XDG_CACHE_HOME:-$HOME/.cache}/accordion/red-seeds}
seeds+=(-accordion.fresh=2000 "-accordion.reds=$kept/reds")

# begin_lane NAME FUNCTION runs the steps of a function one after the other, in parallel with other lanes, because
# most of them wait most of the time.
begin_lane() {
	(lane "$1" "$2") >"$kept/$1.said" 2>&1 </dev/null &
	lanes[$!]=$1
}

# end_lanes waits for all lanes. It prints a lane's output, and its slowest tests, when the lane has ended.
end_lanes() {
	local process name took failed
	while ((${#lanes[@]})); do
		[[ ${lanes[*]} != units ]] || raise
		wait -n -p process "${!lanes[@]}"
		name=${lanes[$process]}
		unset "lanes[$process]"
		echo
		echo "==== lane $name"
		cat "$kept/$name.said"
		if [[ ! -e $kept/$name.ended ]]; then
			ended "lane $name, which did not come to its end" 0 1
			continue
		fi
		mapfile -t -O "${#summary[@]}" summary <"$kept/$name.summary"
		read -r took failed <"$kept/$name.ended"
		failures=$((failures + failed))
		summary+=("$(printf '        %4d s  lane %s in all' "$took" "$name")")
		[[ ! -s $kept/$name.tests ]] || {
			echo "the slowest tests of this lane:"
			"$kept/testlog" -slowest 10 "$kept/$name.tests"
		}
	done
}

# lane NAME FUNCTION runs the steps of a lane in a separate shell.
lane() {
	local begin=$SECONDS
	lane=$1 summary=() failures=0
	"$2"
	printf '%s\n' "${summary[@]}" >"$kept/$1.summary"
	echo "$((SECONDS - begin)) $failures" >"$kept/$1.ended"
}

# least COMMAND... runs a command with low priority until `raise` is called, in its own session. Linux shares the
# CPUs between sessions first, so a nice value counts only within a session. Between sessions the value of the
# autogroup counts. Each daemon of a lab is a session, too. With the lowest priority (19) a test got a hundredth of
# a CPU for minutes, and missed its deadlines.
least() {
	# shellcheck disable=SC2016 # the inner shell's
	setsid -w bash -c '{
		echo 10 >/proc/self/autogroup
		echo $$ >>"$0.least"
		[[ ! -e $0.raised ]] || echo 0 >/proc/self/autogroup
	} 2>/dev/null; exec nice -n 19 "$@"' "$kept/$lane" "$@"
}

# raise gives the commands that `least` has started, and those that it starts later, the priority of any other
# session. It is called when there is no lab left that they could delay. With low priority they would take ten
# times as long under other load.
raise() {
	local session
	touch "$kept/units.least" "$kept/units.raised"
	while read -r session; do
		{ echo 0 >"/proc/$session/autogroup"; } 2>/dev/null # the session may have ended
	done <"$kept/units.least"
}

# modules downloads the modules, and retries because the module proxy fails sometimes.
modules() {
	local try
	for try in 1 2 3; do
		go mod download && go mod download -modfile=scripts/packages/nfpm.mod && go mod download -modfile=scripts/lint.mod && go -C scripts/site mod download && return
		sleep $((try * 3))
	done
	return 1
}

# The site of the guides is a separate module.
vet() { "${weight[@]}" go vet "${packages[@]}" && "${weight[@]}" go -C scripts/site vet ./...; }

# The linter's version and checksums are in a separate module file, because the linter is not part
# of the product. Another run may use the linter at the same time.
lint() {
	local folders
	mapfile -t folders < <(go list -f '{{.Dir}}' "${packages[@]}")
	"${weight[@]}" go tool -modfile=scripts/lint.mod golangci-lint run --allow-parallel-runners "${folders[@]}"
}

# deadcode lists functions that no program calls. Only tests use such a function, or nothing does.
reached() {
	local programs dead
	mapfile -t programs < <(go list -f '{{if eq .Name "main"}}{{.ImportPath}}{{end}}' ./...)
	dead=$("${weight[@]}" go tool -modfile=scripts/lint.mod deadcode "${programs[@]}") || return
	[[ -z $dead ]] || { printf 'no program reaches:\n%s\n' "$dead"; return 1; }
}

# Files in scripts/lab are checked together with slurm-lab and test, which source them.
scripts_checked() {
	local files
	mapfile -t files < <(find scripts slurm/spank .ci -path scripts/lab -prune -o -type f -exec grep -lE '^#!.*[ /](ba|da)?sh( |$)' {} +)
	shellcheck -x -P SCRIPTDIR "${files[@]}"
}

# real SYSTEM prints the packages whose tests boot a slurm or an oar. The packages for oar have oar in their path.
# All others are for slurm.
# shellcheck disable=SC2016 # the dollars are the template's
real() {
	local select=()
	[[ $1 == oar ]] || select=(-v)
	go list -f '{{$path := .ImportPath}}{{range .TestImports}}{{$path}} {{.}}{{"\n"}}{{end}}{{range .XTestImports}}{{$path}} {{.}}{{"\n"}}{{end}}' \
		"${packages[@]}" | sed -n 's, accordion/internal/lab$,,p' | sort -u | grep "${select[@]}" -E '/oar(/|$)'
}

# units lists the packages whose tests boot nothing.
units() { comm -23 <(go list "${packages[@]}" | sort) <((real slurm; real oar) | sort -u); }

# single selects the packages that have only one goroutine, also in their tests.
# TestWhatIsTestedWithoutTheRaceDetectorHasOneGoroutine checks that. In these packages the detector finds nothing,
# and makes the tests six to twenty times slower.
single='^accordion/(core(/.*)?|adapter/(delegated/apps|managed|plan|view)|cmd/accordion/schedule|oar/(planner|scheduler)|traces/(advise(/archive)?|paper/delegated))$'

# computed lists tests of other packages that would compute for minutes under the detector. These tests run without
# the detector. The code that they run also runs under the detector elsewhere: in the scripts of cmd/accordion that
# read no logs, in TestSeeds, in TestAnExperimentEndsWithItsContext, in the replays of small logs in traces/replay,
# and in scripts/gains' other tests.
computed='^Test(EveryPolicyHasResultsAndFiguresOfEveryKindOfJob|CommandsOnLogs|Digests|Figure7AndItsClaims|TheFiguresOfOneLogAreAsComputed|On(RealLogsEverybody|WholeLogs).*)$'

# Under the detector, some of adapter/sim's stories are enough. The step `simulated` runs all of them without it.
unit_tests() {
	local list sim status=0
	mapfile -t list < <(units | grep -vE "$single" | grep -vx accordion/adapter/sim)
	mapfile -t sim < <(units | grep -x accordion/adapter/sim)
	((${#list[@]} == 0)) || go_test -race -timeout 20m -skip "$computed" "${list[@]}" || status=1
	((${#sim[@]} == 0)) || go_test -race -timeout 20m -skip "$computed" "${sim[@]}" -accordion.seeds=400 -accordion.parts=40 || status=1
	return "$status"
}

single_tests() {
	local list
	mapfile -t list < <(units | grep -E "$single")
	((${#list[@]})) || return 0
	go_test -timeout 20m "${list[@]}"
}

computed_tests() {
	local list
	mapfile -t list < <(units | grep -xE 'accordion/(cmd/accordion|adapter/sim|scripts/gains|traces/(advise/whatif|replay|paper/delegated/figures))')
	((${#list[@]})) || return 0
	go_test -timeout 20m -run "$computed" "${list[@]}"
}

# faults lists the tests that simulate faults: with stories about one cluster, about applications on two clusters,
# and of all kinds.
faults='^Test(Seeds|ApplicationsOverTwoClusters|PartsOfApplications|SeedsThatWereRedOnce|FreshSeeds)$'

# This runs without the race detector, which makes it six times slower. Other tests run some seeds under the detector.
simulated() {
	go list "${packages[@]}" | grep -qx accordion/adapter/sim || return 0
	go_test -count=1 accordion/adapter/sim -run "$faults" "${seeds[@]}"
}

# The long tests. They run all random cases against exhaustive search and the plain implementations, of which the
# tests above run some. They open a report of 100,000 jobs in Chromium, with bounds on its times. They test
# packages as they are released, on three releases of Debian. They also test the project without delegated
# scheduling.
long_proofs() {
	local list
	mapfile -t list < <(go list "${packages[@]}" | grep -xE 'accordion(/(core/(profile|ep|place|order|sched|sizing/easy)|scripts/packages|traces/(swf|replay|report|paper/delegated(/figures)?)))?')
	((${#list[@]})) || return 0
	go_test -count=1 -timeout 24h "${list[@]}" -accordion.long
}

# timed lists the tests on a real Slurm that check times in ordinary runs. These tests run after the other tests of
# the lane, two at a time.
timed='^(TestEveryGrowthOfACrowdHappensInTime|TestGrowthsOnAQuietClusterAreInTime|TestOrdinaryJobsDoNotStartLaterForManagedOnesBehindThem|TestTwoHundredHostileJobsDelayNoGrowthAndForgeNothing)$'

# waits names a test on a real Slurm that keeps three labs for minutes and waits nearly all the time. It has its
# own lane, so that it does not delay other tests.
waits='^TestTheTableOfSettingsIsWhatSlurmDoes$'

# elsewhere selects packages that boot labs but belong to neither batch system: the shim, the labs themselves, and
# the stories on two labs.
elsewhere='^accordion/(shim|scripts/lab)'

# The packages run one after the other, because each boots as many labs as the machine can run at the same time. A
# lab waits most of the time. Eight to ten labs, in three lanes, use about two CPUs.
slurm_stories() { on_slurm -parallel 4 -skip "$timed|$waits" < <(real slurm | grep -vE "$elsewhere"); }

other_stories() { on_slurm -parallel 1 < <(real slurm | grep -E "$elsewhere"); }

slurm_settings() { on_slurm -parallel 3 -run "$waits" < <(real slurm | grep -x accordion/slurm); }

slurm_timed() { on_slurm -parallel 2 -run "$timed" < <(real slurm | grep -x accordion/slurm); }

# on_slurm ARGUMENT... tests the packages that it reads from standard input.
on_slurm() {
	local list
	mapfile -t list
	((${#list[@]})) || return 0
	go_test -race -count=1 -p 1 -timeout 60m "$@" "${list[@]}"
}

# begin_fetching fetches the roots of other releases while tests run that do not need them.
begin_fetching() {
	fetched=$(mktemp)
	[[ $(id -u) == 0 ]] || return 0
	fetch_others >"$fetched" 2>&1 &
	fetcher=$!
}

fetch_others() {
	local status=0
	[[ ! $(real slurm) ]] || fetch_releases || status=1
	[[ ! $(real oar) ]] || scripts/oar-lab fetch 2.6 || status=1
	return "$status"
}

end_fetching() {
	local status=0
	[[ -z ${fetcher-} ]] || wait "$fetcher" || status=1
	((status == 0)) || cat "$fetched"
	rm -f "$fetched"
	return "$status"
}

# end_labs takes down labs that an interrupted run has left. These are the labs whose slot no process holds.
end_labs() {
	local kind tool variable folder
	while read -r kind tool variable; do
		for folder in /var/tmp/accordion-"$kind"-[0-9]*; do
			[[ -d $folder ]] && ! grep -q "@accordion-${kind/two-labs/oar-lab}-${folder##*-}\$" /proc/net/unix || continue
			env "$variable=$folder" "scripts/$tool" down
		done
	done <<-'END'
		lab slurm-lab SLURM_LAB_DIR
		oar-lab oar-lab OAR_LAB_DIR
		two-labs two-labs TWO_LABS_DIR
	END
}

oar_stories() { on_oar -parallel 3 < <(real oar | grep -vE "$elsewhere"); }

labs_of_oar() { on_oar -parallel 3 < <(real oar | grep -E "$elsewhere"); }

# on_oar ARGUMENT... tests the packages that it reads from standard input. OAR's servers fork their modules. If
# they started the modules separately, as in the long runs, the modules would use a quarter of both CPUs.
on_oar() {
	local list
	mapfile -t list
	((${#list[@]})) || return 0
	ACCORDION_TEST_OAR_MODULES=forked go_test -race -count=1 -p 1 -timeout 60m "$@" "${list[@]}"
}

# Tests without a lab may use all CPU time that remains. The labs, in which times are checked, take precedence. But
# some of the tests without a lab have wall-clock deadlines. With low priority they got a hundredth of a CPU for
# minutes, and missed their deadlines. So they have the priority of any other session.
lane_units() {
	local weight=(least)
	export GOGC=400 # there is enough memory but little CPU time; with this value compiling takes a sixth less
	step "gofmt" formatted
	step "shellcheck" scripts_checked
	step "go vet" vet
	step "lint" lint
	step "no dead functions" reached
	step "tests of packages with one goroutine" single_tests
	weight=(setsid -w)
	step "tests" unit_tests
	weight=(least)
	step "tests that compute for long" computed_tests
	step "simulated faults" simulated
	if [[ $long ]]; then
		step "long proofs, and a large report" long_proofs
	fi
}

lane_slurm() {
	step "tests on a real Slurm" slurm_stories
	step "tests on a real Slurm that judge times" slurm_timed
}

lane_settings() {
	step "the table of settings on a real Slurm" slurm_settings
}

lane_oar() {
	step "tests on a real OAR" oar_stories
}

# Packages that belong to neither batch system alone.
lane_others() {
	step "shim and lab on a real Slurm" other_stories
	step "the lab of OAR, and applications over an OAR and a Slurm" labs_of_oar
}

# The stories that take too long for daily runs, and a cluster of 12,000 jobs.
long_stories() {
	local list
	mapfile -t list < <(go list "${packages[@]}" | grep -xE 'accordion/(slurm|oar)')
	((${#list[@]})) || return 0
	go_test -count=1 -p 1 -timeout 24h "${list[@]}" -accordion.long
}

# releases_stories runs all stories on each release of Slurm other than this machine's, in a world in which that
# release is installed.
releases_stories() {
	local release suite status=0
	go list "${packages[@]}" | grep -qx accordion/slurm || return 0
	for release in "${!suites[@]}"; do
		suite=${suites[$release]}
		own_suite "$suite" && continue
		echo "-- Slurm $release"
		scripts/slurm-lab world "$release" -- env -u ACCORDION_TEST ACCORDION_TEST_SLURM=required go test -count=1 -timeout 24h ./slurm -accordion.long || status=1
	done
	return "$status"
}

# All stories on the OAR of the next Debian.
other_oar() {
	go list "${packages[@]}" | grep -qx accordion/oar || return 0
	ACCORDION_TEST_OAR_RELEASE=2.6 go_test -count=1 -timeout 24h accordion/oar -accordion.long
}

needed=("${test_programs[@]}" "${release_programs[@]}")
if grep -rqF --include='*_test.go' accordion/internal/browser .; then
	needed+=(/usr/bin/chromium:chromium)
fi
step "install what is missing" install_programs "${needed[@]}"
step "download the Go modules" modules
begin_fetching
step "the reader of results" go build -o "$kept/testlog" ./scripts/testlog
begin_lane units lane_units
step "the other releases of Slurm and OAR" end_fetching
begin_lane slurm lane_slurm
begin_lane oar lane_oar
begin_lane others lane_others
begin_lane settings lane_settings
end_lanes
if [[ $long ]]; then
	step "long stories on a real Slurm and a real OAR" long_stories
	step "long stories on the other releases of Slurm" releases_stories
	step "the stories on the next Debian's OAR" other_oar
fi

echo
printf '%s\n' "${summary[@]}"
"$kept/testlog" -skipped "$kept"/*.tests
"$kept/testlog" -failed "$kept"/*.tests
if [[ -s $kept/reds ]]; then
	printf '\nfresh seeds that are red (they fail nothing; kept in %s):\n' "$reds"
	mkdir -p "$(dirname "$reds")"
	tee -a "$reds" <"$kept/reds"
fi
if ((failures)); then
	echo "$failures of ${#summary[@]} steps failed"
	exit 1
fi
echo "all is well"
