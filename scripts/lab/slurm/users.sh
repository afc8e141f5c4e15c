# shellcheck shell=bash disable=SC2154
# The lab's users: system accounts, made when missing and removed by the last lab that used them. Sourced by slurm-lab.
#
# Their mark is the comment field of /etc/passwd; which labs use one is kept in /run/accordion-slurm-lab/NAME/, an
# empty file for each lab.

users_mark='Accordion slurm-lab'
users_dir=/run/accordion-slurm-lab

valid_user() { [[ $1 =~ ^[a-z][a-z0-9_-]{0,30}$ && $1 != root ]]; }

first_user() { head -n 1 "$lab/etc/users"; }

lab_users() { paste -sd ' ' "$lab/etc/users"; }

# lock_users: labs that start and end together must not fight over /etc/passwd.
lock_users() {
	exec 7</var/lib/dpkg
	flock 7
}

unlock_users() { exec 7<&-; }

lab_file() { echo "${lab//\//%}"; }

# forget_lost_labs NAME: a lab whose directory somebody has removed holds no user any more.
forget_lost_labs() {
	local file path
	for file in "$users_dir/$1"/*; do
		path=$(basename "$file")
		[[ -d ${path//%/\/} ]] || rm -f "$file"
	done
}

# number_of_users: the first that a new user of this lab may get. Labs of other ports have other numbers, also where they do not see
# each other's users: who ends all processes of a user must not meet another's.
number_of_users() { echo $((30000 + port / 100 * 40)); }

# first_job: all labs have the same cluster's name and, where they see each other's users, the same /tmp, in which a job's hosts file is called
# by its cluster and its number. So jobs of labs of other ports have other numbers.
first_job() { echo $(((port - 16800) / 100 % 600 * 1000 + (port < 16800 ? 700000 : 0) + 1)); }

# forget_hosts removes hosts files of the jobs of a lab before this one at its ports.
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
		# Not empty: another lab has him.
		if [[ -d $users_dir/$user ]] && rmdir "$users_dir/$user" 2>/dev/null; then
			# What a job of his hid from us (no group, no environment, no file of the lab open) ends with him; but nobody of that
			# number in other namespaces, who is somebody else.
			has_group || pkill -KILL -U "$user" --ns $$ --nslist pid || true
			# By force: one of his processes may be dying, and somebody in another namespace may have his number.
			userdel --force "$user" 7<&- 8<&- 2>/dev/null || echo "slurm-lab: the user $user could not be removed" >&2
		fi
	done <"$lab/etc/users"
	rmdir "$users_dir" 2>/dev/null || true
	unlock_users
}
