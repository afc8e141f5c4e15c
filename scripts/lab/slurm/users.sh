# shellcheck shell=bash disable=SC2154
# The lab's users are system accounts. A lab makes missing users, and the last lab that uses a user removes it.
# Sourced by slurm-lab.
#
# The comment field of /etc/passwd marks them. For each user, /run/accordion-slurm-lab/NAME/ has an empty file
# for each lab that uses the user.

users_mark='Accordion slurm-lab'
users_dir=/run/accordion-slurm-lab

valid_user() { [[ $1 =~ ^[a-z][a-z0-9_-]{0,30}$ && $1 != root ]]; }

first_user() { head -n 1 "$lab/etc/users"; }

lab_users() { paste -sd ' ' "$lab/etc/users"; }

# lock_users prevents labs that start and end at the same time from changing /etc/passwd at the same time.
lock_users() {
	exec 7</var/lib/dpkg
	flock 7
}

unlock_users() { exec 7<&-; }

lab_file() { echo "${lab//\//%}"; }

# forget_lost_labs NAME removes a user's entries for labs whose directory was deleted.
forget_lost_labs() {
	local file path
	for file in "$users_dir/$1"/*; do
		path=$(basename "$file")
		[[ -d ${path//%/\/} ]] || rm -f "$file"
	done
}

# number_of_users prints the first ID for a new user of this lab. Labs with other ports have other IDs, even if
# they do not see each other's users. Otherwise a command that ends all processes of one lab's user would end
# another lab's processes.
number_of_users() { echo $((30000 + port / 100 * 40)); }

# first_job prints the first job number. All labs have the same cluster name. Labs that see each other's users also
# have the same /tmp, where a job's hosts file is named after the cluster and the job number. So labs with other
# ports have other job numbers.
first_job() { echo $(((port - 16800) / 100 % 600 * 1000 + (port < 16800 ? 700000 : 0) + 1)); }

# forget_hosts removes the hosts files of jobs of an earlier lab with these ports.
forget_hosts() {
	local file number first
	first=$(first_job)
	for file in /tmp/accordion-*/lab-*.hosts; do
		number=${file##*/lab-}
		number=${number%.hosts}
		[[ ! $number =~ ^[0-9]+$ ]] || ((number < first || number >= first + 1000)) || rm -f "$file"
	done
}

add_users() {
	local user number
	number=$(number_of_users)
	touch "$lab/etc/users"
	lock_users
	for user; do
		if ! getent passwd "$user" >/dev/null; then
			while getent passwd "$number" >/dev/null; do
				number=$((number + 1))
			done
			useradd --uid "$number" --system -K SYS_UID_MAX="$number" --user-group --no-create-home --home-dir /nonexistent \
				--shell /bin/bash --comment "$users_mark" "$user" 7<&- 8<&- || die "cannot add the user $user"
		fi
		if [[ $(getent passwd "$user" | cut -d: -f5) == "$users_mark" ]]; then
			mkdir -p "$users_dir/$user"
			touch "$users_dir/$user/$(lab_file)"
		fi
		grep -qxF "$user" "$lab/etc/users" || echo "$user" >>"$lab/etc/users"
		mkdir -p "$lab/home/$user"
		chown "$user:$(id -g "$user")" "$lab/home/$user"
		chmod 700 "$lab/home/$user"
	done
	unlock_users
}

remove_users() {
	local user
	[[ -f $lab/etc/users ]] || return 0
	lock_users
	while read -r user; do
		rm -f "$users_dir/$user/$(lab_file)"
		forget_lost_labs "$user"
		# If the folder is not empty, another lab uses this user.
		if [[ -d $users_dir/$user ]] && rmdir "$users_dir/$user" 2>/dev/null; then
			# A job process that was hidden from us (no group, no environment, no file of the lab open) ends with its
			# user. Processes with that ID in other namespaces, which belong to another user, do not.
			has_group || pkill -KILL -U "$user" --ns $$ --nslist pid || true
			# --force is needed because a process of the user may be ending, and processes in another namespace may
			# have the same ID.
			userdel --force "$user" 7<&- 8<&- 2>/dev/null || echo "slurm-lab: the user $user could not be removed" >&2
		fi
	done <"$lab/etc/users"
	rmdir "$users_dir" 2>/dev/null || true
	unlock_users
}
