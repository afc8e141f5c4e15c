package Forked;

# Makes OAR's server fork its modules in a lab, instead of starting Perl for each: perl -MForked before the
# server's own text. A module that is started separately first compiles 15,000 lines. This takes some hundred
# milliseconds of CPU time, several times in each pass. OAR's own text runs in either case. In a forked module it
# finds the same conditions as in a newly started program: its arguments, no open files of the server, a newly read
# configuration, and signals as after exec.

use strict;
use warnings;
use POSIX ();

my %modules = map { ("/usr/lib/oar/$_" => 1) } qw(NodeChangeState oar_meta_sched sarko Leon bipbip);

# Only in the server: the programs that start it or that it starts also read this variable.
if ($0 eq '/usr/lib/oar/Almighty') {
    delete $ENV{PERL5OPT};
    # A process that ends frees nothing that it shares with the server, because freeing would first copy it.
    *CORE::GLOBAL::exit = sub { leave($_[0] // 0) };
    # OAR::IO comes before the modules that use it, as it does in the modules themselves. Otherwise
    # OAR::IO would not get the names of the log. All of them come before exec is replaced, because
    # they call exec in forms that only Perl's own exec supports.
    for my $used (qw(OAR::IO OAR::Modules::Judas OAR::Modules::Hulot OAR::PingChecker OAR::Schedulers::GanttHoleStorage OAR::Walltime
        English IO::Socket::INET IPC::Open2)) {
        eval "require $used; 1" or die $@;
    }
    eval "require DBD::$_" for qw(Pg mysql); # a release has one or both of them
    *CORE::GLOBAL::exec = sub {
        my ($program, @arguments) = @_ == 1 ? split(' ', $_[0]) : @_;
        become($program, @arguments) if $modules{$program} && !grep { /[^\w.]/ } @arguments;
        return @_ == 1 ? CORE::exec($_[0]) : CORE::exec(@_);
    };
}

# become MODULE ARGUMENT... does in this forked process what exec would do, and never returns.
sub become {
    my ($module, @arguments) = @_;
    close_files();
    for my $signal (grep { defined $SIG{$_} && $SIG{$_} ne 'IGNORE' } keys %SIG) {
        $SIG{$signal} = 'DEFAULT' unless $signal =~ /^__/;
    }
    OAR::Conf::reset_conf();
    srand;
    $^T = time;
    $0 = "/usr/bin/perl $module @arguments";
    @ARGV = @arguments;
    ($@, $!, $?) = ('', 0, 0);
    package main;
    do $module;
    print STDERR $@ if $@;
    leave($@ ? 255 : 0);
}

# leave STATUS flushes pending output with an exec of a program that does not exist, and then exits.
sub leave {
    no warnings;
    CORE::exec {'/'} '/';
    POSIX::_exit($_[0]);
}

# close_files closes the files that exec closes: all except the first three. It closes Perl's own handles first.
# Otherwise a handle that is reopened later would close its old file number, which another file may have by then.
sub close_files {
    no strict 'refs';
    for my $package (qw(main:: OAR::Modules::Judas:: OAR::Conf:: OAR::Tools:: OAR::IO::)) {
        for my $name (keys %$package) {
            my $handle = ref \$package->{$name} eq 'GLOB' ? *{$package->{$name}}{IO} : undef;
            close $handle if $handle && defined fileno($handle) && fileno($handle) > 2;
        }
    }
    opendir my $open, '/proc/self/fd' or return;
    my @numbers = grep { /^\d+$/ && $_ > 2 } readdir $open;
    closedir $open;
    POSIX::close($_) for @numbers;
}

1;
