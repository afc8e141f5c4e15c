# Replaces oarsub: passes submissions to admission rules as OAR does, and prints the results.
#
# usage: perl submit.pl NODES RULE... <submissions
# The rules are files, in their order. A submission is a line of JSON: types (each as hexadecimal digits), queue, requests
# ([[levels, walltime]...], levels as in OAR's ref_resource_list), reservation, properties, array, name, project, kind (INTERACTIVE),
# command, line (oarsub's command line). The answer is a line of JSON: said (message of the refusal, hexadecimal; "" when the job is
# accepted), types, requests, and warned (message for the user of an accepted job).
package OAR::IO;
use strict;
use JSON::PP;

{
    package OAR::Conf;
    my %conf = (OARSUB_DEFAULT_RESOURCES => '/resource_id=1', OARSUB_NODES_RESOURCES => 'network_address');
    sub get_conf { return $conf{ $_[0] } }
}
{
    package Database;
    sub selectrow_array { return ${ $_[0] } }
}

my ($nodes, @files) = @ARGV;
my $rules = '';
foreach my $file (@files) {
    open(my $in, '<', $file) or die("$file: $!");
    $rules .= join('', <$in>);
}

# OAR evaluates the text for each submission. Here it is compiled once, in the same scope.
my ($s, $dbh, $type_list, $ref_resource_list, $queue_name, $jobType, $user, $jobproperties, $job_name, $project, $reservationField,
    $array_job_nb, $array_params_ref, $command, $initial_request_string);
my $admit = eval("sub { $rules\n}") // do { my $why = $@; sub { die($why) } };

while (my $line = <STDIN>) {
    $s = decode_json($line);
    $dbh = bless(\(my $size = $nodes), 'Database');
    $type_list = [map { pack('H*', $_) } @{ $s->{types} }];
    $ref_resource_list = $s->{requests};
    ($queue_name, $jobType, $user) = ($s->{queue}, $s->{kind} // 'PASSIVE', 'alice');
    ($jobproperties, $job_name, $project) = ($s->{properties} // '', $s->{name}, $s->{project} // 'default');
    $reservationField = $s->{reservation} // 'None';
    ($array_job_nb, $array_params_ref) = ($s->{array} // 1, undef);
    ($command, $initial_request_string) = ($s->{command}, $s->{line} // 'oarsub');
    my ($said, $warned) = ('', '');
    local $SIG{__WARN__} = sub { $warned .= $_[0] };
    eval { $admit->() };
    $said = "$@" if $@;
    print(encode_json({ said => unpack('H*', $said), warned => unpack('H*', $warned), types => [map { unpack('H*', $_) } @{$type_list}], requests => $ref_resource_list }), "\n");
}
