
# Accordion, 2 of 2: evolving jobs. `accordion oar install` has put this rule here and keeps it; change it there.
#
# This rule adds the types that the first rule removed. It refuses the job when a rule in between has changed what the profile needs.
if (@accordion_types) {
    my $job = $accordion_types[0] =~ /\Alaunch=/ ? 'part of an application' : 'evolving job';
    $queue_name eq 'QUEUE_NAME'
        or $accordion_refuse->("a rule of this site moves this $job from the queue QUEUE_NAME to $queue_name");
    @{$ref_resource_list} == @accordion_asks
        or $accordion_refuse->("a rule of this site changes the number of requests (-l) of this $job");
    foreach my $i (0 .. $#accordion_asks) {
        my ($least, $total) = @{ $accordion_asks[$i] };
        my ($groups, $walltime) = @{ $ref_resource_list->[$i] };
        !defined($total) || $walltime == $total
            or $accordion_refuse->("a rule of this site makes the walltime $walltime s, and $accordion_types[$i] lasts $total s");
        @{$groups} == 1 && join('/', map { "$_->{resource}=$_->{value}" } @{ $groups->[0]->{resources} }) eq "network_address=$least"
            or $accordion_refuse->("a rule of this site changes the nodes that $accordion_types[$i] asks for");
    }
    my $message = join(',', 'R=1000000', 'W=87600:00:00', 'J=B', 'N=' . ($job_name // ''), "Q=$queue_name", 'P=' . ($project // ''),
        'T=' . join('|', @{$type_list}, @accordion_types));
    length($message) <= 255
        or $accordion_refuse->("the name, the project and the types of this $job are ", length($message) - 255,
            ' characters longer than OAR has room for: shorten one of them');
    push(@{$type_list}, splice(@accordion_types));
}
