
# Accordion, 1 of 2: evolving jobs. `accordion oar install` has put this rule here and keeps it; change it there.
#
# A job of the queue QUEUE_NAME describes how it grows and shrinks:
#
#     oarsub -q QUEUE_NAME -t ep=5x500s,10x1h ...
#     oarsub -q QUEUE_NAME -t ep1=2x1h,8x1h -t ep2=4x40m,16x40m ...    alternatives of whole profiles
#     oarsub -q QUEUE_NAME -t launch=7 ...    a part of application 7, by `accordion launch`: its size comes later
#
# This rule refuses the job in one line, or changes its request: to the least nodes of the profile and all of its time, and for a part of an
# application to one node. It removes the types, because OAR's own rule does not know them. The second rule adds them again. Other jobs are
# not changed. The grammar is the one of core/moldable in Accordion. Tests pass the same texts to both.
{
    # The argument of die. OAR adds a line end to what it prints.
    package Accordion::Refusal;
    use overload '""' => sub { ${ $_[0] } }, fallback => 1;
}
{
    # It calls a function after all rules have ended.
    package Accordion::End;
    sub DESTROY { $_[0]->() }
}
our (@accordion_types, @accordion_asks, $accordion_refuse);
# A rule of the site that executes "return" ends all rules, and the second rule of Accordion too. Then this adds the types.
my $accordion_end = bless(sub { push(@{$type_list}, splice(@accordion_types)) }, 'Accordion::End');
{
    my $queue = 'QUEUE_NAME';
    my ($most_nodes, $longest) = (1000000, 3650 * 86400);
    my $room = 190; # characters: OAR writes all types of a job into its message, which has 255
    my $duration = 'a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS';

    $accordion_refuse = sub {
        my $text = 'accordion: ' . join('', @_);
        die(bless(\$text, 'Accordion::Refusal'));
    };
    # Returns text of others for one line: printable ASCII, and cut when it is long.
    my $shown = sub {
        my $text = substr($_[0], 0, 40);
        $text =~ s/(["\\])/\\$1/g;
        $text =~ s/([^ -~])/sprintf('\\x%02x', ord($1))/ge;
        return '"' . $text . '"' . (length($_[0]) > 40 ? '...' : '');
    };
    # Reads a number. One with too many digits becomes a number above every limit.
    my $number = sub {
        my $digits = $_[0];
        $digits =~ s/\A0+//;
        return length($digits) > 10 ? 10 * $longest : $digits + 0;
    };
    # Returns seconds, or 0 for text that is not a duration. The units must be in this order, each at most once.
    my $seconds = sub {
        my $text = $_[0];
        my ($days, $clock) = $text =~ /\A([0-9]+)-([0-9]{1,2}:[0-9]{2}:[0-9]{2})\z/;
        if (($clock // $text) =~ /\A(?:([0-9]+):(?=[0-9]{2}:))?([0-9]+):([0-9]{2})\z/) {
            return 0 if $3 > 59 or defined($1) && $2 > 59 or defined($days) && $1 > 23;
            return $number->($days // 0) * 86400 + $number->($1 // 0) * 3600 + $number->($2) * 60 + $3;
        }
        if ($text =~ /\A(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?\z/) {
            my ($d, $h, $m, $s) = map { defined($_) ? $number->($_) : 0 } $1, $2, $3, $4;
            return $d * 86400 + $h * 3600 + $m * 60 + $s;
        }
        return 0;
    };
    # Rewrites 8X1h, 2 x 20min or 4*1.5h as NODESxDURATION, for messages. Only NODESxDURATION is accepted. Returns "" for text that it does
    # not understand, and for text that needs no rewriting. core/loose.go does the same; a test compares the two.
    my $blank = qr/[ \t\r\n\x0b\x0c]*/;
    my %unit = (map({ $_ => [1, 86400] } qw(d day days)), map({ $_ => [2, 3600] } qw(h hr hrs hour hours)),
        map({ $_ => [3, 60] } qw(m min mins minute minutes)), map({ $_ => [4, 1] } qw(s sec secs second seconds)));
    my $tidy = sub {
        my ($piece) = @_;
        my ($nodes, $length) = $piece =~ /\A$blank([0-9]+)$blank(?:[xX*]|\xc3\x97)+$blank(.*?)$blank\z/s or return '';
        length($piece) <= 40 && $number->($nodes) >= 1 && $number->($nodes) <= $most_nodes or return '';
        if ($seconds->($length) < 1) {
            my ($rest, $sum, $last) = (lc($length), 0, 0);
            while ($rest =~ s/\A([0-9]{0,9})(?:\.([0-9]{1,6}))?$blank([a-z]+)$blank//) {
                my ($whole, $places, $unit) = ($1, $2 // '', $unit{$3});
                "$whole$places" ne '' && $unit && $unit->[0] > $last or return '';
                my ($part, $one) = ("0$places" * $unit->[1], 10**length($places));
                $part % $one == 0 or return '';
                ($sum, $last) = ($sum + "0$whole" * $unit->[1] + $part / $one, $unit->[0]);
            }
            $rest eq '' && $sum > 0 && $sum <= $longest or return '';
            $length = join('', map({ my $n = int($sum / $_->[1]); $sum -= $n * $_->[1]; $n ? $n . $_->[0] : () } ['d', 86400], ['h', 3600], ['m', 60], ['s', 1]));
        }
        return $seconds->($length) <= $longest && "${nodes}x$length" ne $piece ? "; write ${nodes}x$length" : '';
    };
    # Returns the least and the most nodes of a profile, and its seconds.
    my $read = sub {
        my ($where, $text, $column) = @_;
        my ($least, $most, $total);
        foreach my $piece ($text eq '' ? ('') : split(/,/, $text, -1)) {
            my $wrong = sub { $accordion_refuse->("${where}evolution profile, column $_[0]: ", $shown->($_[1]), " is not $_[2]", $_[3] ? $tidy->($piece) : '') };
            $piece !~ /[^ \t\r\n\x0b\x0c][ \t\r\n\x0b\x0c]+[0-9]+-[0-9]+\z/
                or $wrong->($column, $piece, 'NODESxDURATION: a range of nodes after it is for malleable jobs, which this release does not run');
            $piece !~ /[ \t\r\n\x0b\x0c]/
                or $wrong->($column, $piece, 'NODESxDURATION: no blanks after the comma or anywhere else, as in 5x500s,10x1h', 1);
            my ($nodes, $length) = $piece =~ /\A([^x]*)x(.*)\z/s
                or $wrong->($column, $piece, 'NODESxDURATION, such as 5x500s or 10x1h30m', 1);
            my $n = $nodes =~ /\A[0-9]+\z/ ? $number->($nodes) : 0;
            $n >= 1 && $n <= $most_nodes or $wrong->($column, $nodes, "a number of nodes from 1 to $most_nodes, as in 5x500s", 1);
            my $s = $seconds->($length);
            $s >= 1 && $s <= $longest or $wrong->($column + length($nodes) + 1, $length, $duration, 1);
            $total += $s;
            $total <= $longest or $wrong->($column, $piece, 'within the longest total, 3650 days');
            $least = $n if !defined($least) || $n < $least;
            $most = $n if !defined($most) || $n > $most;
            $column += length($piece) + 1;
        }
        return ($least, $most, $total);
    };

    # Refuses a job whose nodes Accordion cannot choose. The first argument names the kind of job: "an evolving job".
    my $placeable = sub {
        my ($it, @types) = @_;
        foreach my $type (@types) {
            $type =~ /\A\s*(container|inner|deploy|besteffort|cosystem|desktop_computing|noop|timesharing|placeholder|allowed|state|postpone|deadline|expire|token)\b/
                and $accordion_refuse->("$it cannot be of type $1, too: leave one of the two out");
        }
        defined($queue_name) && $queue_name eq $queue
            or $accordion_refuse->(($it =~ /evolving/ ? 'evolving jobs' : 'parts of applications'), " run in the queue $queue, and this one is for ", $shown->($queue_name // ''), ": say -q $queue");
        $reservationField eq 'None'
            or $accordion_refuse->("$it cannot be an advance reservation: leave -r out");
        ($jobType // '') ne 'INTERACTIVE'
            or $accordion_refuse->("$it cannot be interactive: leave -I out, and say a command or a script");
        ($array_job_nb // 1) <= 1 && @{ $array_params_ref // [] } <= 1
            or $accordion_refuse->($it =~ /evolving/ ? 'an array of jobs cannot evolve: submit them one by one' : 'an array of jobs cannot be a part of an application: submit one');
        ($jobproperties // '') eq ''
            or $accordion_refuse->("$it takes whatever nodes the queue has: leave the property (-p) out: ", $shown->($jobproperties));
    };

    # The profiles, by their numbers: "" for -t ep=, 1 for -t ep1=.
    my (%profiles, @others, @launches);
    foreach my $type (@{$type_list}) {
        if ($type =~ /\A\s*ep([0-9]*)\s*(?:=(.*))?\z/s) {
            defined($2) or $accordion_refuse->('-t ', $shown->($type), ' is no profile: write -t ep=NODESxDURATION,..., such as -t ep=5x500s,10x1h30m');
            exists($profiles{$1}) and $accordion_refuse->("-t ep$1= is there twice: a job has one profile; alternatives are -t ep1=... -t ep2=...");
            $profiles{$1} = $2;
        } elsif ($type =~ /\A\s*launch\s*(?:=\s*(.*?)\s*)?\z/s) {
            my $application = $1 // '';
            $application =~ /\A[1-9][0-9]{0,17}\z/
                or $accordion_refuse->('-t launch=', substr($shown->($application), 1, -1), ' is not the number of an application: `accordion launch` gives it, as in launch=7');
            push(@launches, $application);
        } else {
            push(@others, $type);
        }
    }
    # oarsub -S reads the lines #OAR of the script, but not lines #EP or #MOLD. A line that was meant as a request is refused. A line after
    # the script's first command, or without a unit, causes a warning.
    my $check_script = sub {
        my ($file) = split(' ', $command // '');
        defined($file) && $file ne '' or return;
        local $ENV{OARDO_BECOME_USER} = $ENV{OARDO_USER};
        open(my $in, '-|', 'oardodo', 'cat', $file) or return;
        my $text = '';
        read($in, $text, 65536); # bytes: as under Slurm
        close($in);
        $text =~ /\A#/ or return;
        $text =~ /\n[ \t\r\x0b\x0c]*[^#\s]/ and my $command_at = $-[0];
        while ($text =~ /\n[ \t]*\K#(?<blank>[ \t]*)(?<word>ep|mold)[:= \t]*["']?(?<body>[0-9]+[ \t]*x[ \t]*[0-9]+(?<after>.{0,2})|(?<model>[a-z]+:[ \t]*[pa][ \t]*=))|\n#!/gi) {
            if (!defined($+{word})) { # a script in the script
                defined($command_at) && $-[0] >= $command_at and return;
                next;
            }
            my ($word, $after, $model, $at, $from) = (lc($+{word}), $+{after} // '', $+{model}, $-[0], $-[0] + length($&) - length($+{body}));
            my $sure = defined($model) || $after =~ /\A(?:[smhd](?:[0-9]|[^a-z]|\z)|[:-][0-9])/i;
            $sure || $after !~ /\A[a-z]/i or next;
            my $number = 1 + (substr($text, 0, $at) =~ tr/\n//);
            my ($line) = substr($text, $at) =~ /\A([^\n]*)/;
            my ($request) = substr($text, $from, 200) =~ /\A([^\n#"']*)/;
            $request =~ tr/X/x/;
            $request =~ s/\s*([,|x])\s*/$1/g;
            ($request) = $request =~ /\A(\S*)/;
            length($request) <= 60 && $request !~ /[^!-~]/ or $request = '5x500s,10x1h';
            my $right = $word eq 'ep' ? "#OAR -t ep=$request" : '#OAR -l nodes=4,walltime=2:00:00", one line for each size of the job, in place of "#MOLD ' . $request;
            if (!$sure || defined($command_at) && $at >= $command_at) {
                warn("accordion: script line $number: ", $shown->($line), " is not read: OAR has \"$right\"\n");
                return;
            }
            $accordion_refuse->("script line $number: ", $shown->($line), " is not read by OAR: write \"$right\", or begin the line with ## to leave it out");
        }
    };
    $check_script->() if !%profiles && !@launches && ($jobType // '') ne 'INTERACTIVE' && ($initial_request_string // '') =~ /\s(?:-[a-zA-Z]*S|--scan[a-z]*)(?:\s|\z)/;

    (@accordion_types, @accordion_asks) = ();
    if (@launches) {
        my $launch = "launch=$launches[0]";
        @launches == 1
            or $accordion_refuse->("-t $launch together with -t launch=$launches[1]: a job is a part of one application");
        %profiles
            and $accordion_refuse->("-t $launch together with -t ep=: a part of an application has no request of its own");
        $placeable->('a part of an application', @others);
        # Its launcher decides later how many nodes it gets, and for how long. So -l has no effect, and must not ask for anything that would be
        # lost.
        @{$ref_resource_list} == 1
            or $accordion_refuse->(scalar(@{$ref_resource_list}), " requests (-l), and $launch gets its size from its launcher: leave -l out");
        my ($groups, $walltime) = @{ $ref_resource_list->[0] };
        grep { ($_->{property} // '') ne '' } @{$groups}
            and $accordion_refuse->("-l asks for properties of nodes, and a part of an application takes whatever nodes the queue has: leave -l out");
        @accordion_types = ($launch);
        @accordion_asks = ([1, undef]);
        $ref_resource_list->[0] = [[{ resources => [{ resource => 'network_address', value => 1 }] }], defined($walltime) ? ($walltime) : ()];
        @{$type_list} = @others;
    }
    if (%profiles) {
        my @names = exists($profiles{''}) ? ('') : (1 .. scalar(keys(%profiles)));
        foreach my $name (sort(keys(%profiles))) {
            grep { $_ eq $name } @names
                or $accordion_refuse->("-t ep$name= is one too many: write one -t ep=, or -t ep1=, -t ep2= and so on without a gap");
        }
        $placeable->('an evolving job', @others);

        my ($nodes) = $dbh->selectrow_array("SELECT COUNT(DISTINCT network_address) FROM resources WHERE type = 'default' AND state <> 'Dead'");
        my $length = 0;
        foreach my $name (@names) {
            my $where = $name eq '' ? '' : "ep$name: ";
            my ($space, $text) = $profiles{$name} =~ /\A([ \t\r\n\x0b\x0c]*)(.*?)[ \t\r\n\x0b\x0c]*\z/s;
            $length += length($text);
            $length <= $room
                or $accordion_refuse->("${where}the profile has $length characters", ($name eq '' ? '' : ' with those before it'),
                    ", and OAR has room for $room: write it shorter (90m for 5400s), or with fewer steps");
            my ($least, $most, $total) = $read->($where, $text, 1 + length($space));
            $most <= $nodes
                or $accordion_refuse->("${where}the profile grows to $most nodes, and the cluster has $nodes");
            push(@accordion_types, "ep$name=$text");
            push(@accordion_asks, [$least, $total]);
        }

        # -l must agree with the profile. oarsub uses its default when there is no -l.
        my $spelt = sub { join('/', map { ($_->{resource} eq 'nodes' ? 'network_address' : $_->{resource}) . '=' . $_->{value} } @{ $_[0] }) };
        my $default = OAR::Conf::get_conf('OARSUB_DEFAULT_RESOURCES') // '/resource_id=1';
        $default =~ s/\s+|\A\s*\/+//g;
        my %host = map { $_ => 1 } 'network_address', OAR::Conf::get_conf('OARSUB_NODES_RESOURCES') // ();
        my @given = @{$ref_resource_list};
        my $unsaid = sub { my $groups = $_[0]->[0]; @{$groups} == 1 && ($groups->[0]->{property} // '') eq '' && $spelt->($groups->[0]->{resources}) eq $default };
        @given = map { [$given[0]->[0], $given[0]->[1]] } @names if @given == 1 && @names > 1 && $unsaid->($given[0]) && !defined($given[0]->[1]);
        @given == @names
            or $accordion_refuse->(scalar(@given), ' requests (-l) and ', scalar(@names), ' profiles: say one -l for each, or none at all');
        foreach my $i (0 .. $#names) {
            my ($least, $total) = @{ $accordion_asks[$i] };
            my $right = "leave -l out, or say -l nodes=$least,walltime=" . sprintf('%d:%02d:%02d', $total / 3600, $total / 60 % 60, $total % 60);
            my ($groups, $walltime) = @{ $given[$i] };
            my $levels = $groups->[0]->{resources};
            $unsaid->($given[$i]) || @{$groups} == 1 && ($groups->[0]->{property} // '') eq ''
                && @{$levels} == 1 && $host{ $levels->[0]->{resource} } && $levels->[0]->{value} == $least
                or $accordion_refuse->('-l asks for ', $shown->(join('+', map { (($_->{property} // '') eq '' ? '' : "{$_->{property}}") . '/' . $spelt->($_->{resources}) } @{$groups})),
                    ", and $accordion_types[$i] has $least at the least: $right");
            !defined($walltime) || $walltime == $total
                or $accordion_refuse->("-l asks for a walltime of $walltime s, and $accordion_types[$i] lasts $total s: $right");
        }
        @{$ref_resource_list} = map { [[{ resources => [{ resource => 'network_address', value => $_->[0] }] }], $_->[1]] } @accordion_asks;
        @{$type_list} = @others;
    }
}
