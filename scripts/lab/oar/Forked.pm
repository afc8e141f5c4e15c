package Forked;

# OAR's server in a lab forks its modules, instead of starting a Perl for each: perl -MForked before the server's own text. A module that
# is started anew compiles 15,000 lines first, some hundreds of milliseconds of a processor, several times a pass. What it does is OAR's own
# text in either case, and it sees what a program sees that was just started: its arguments, no files of the server's, configuration read
# anew, signals as exec leaves them.

use strict;
use warnings;
use POSIX ();

my %modules = map { ("/usr/lib/oar/$_" => 1) } qw(NodeChangeState oar_meta_sched sarko Leon bipbip);

# In the server alone: whoever starts it, and whatever it starts, reads this in vain.
if ($0 eq '/usr/lib/oar/Almighty') {
    delete $ENV{PERL5OPT};
    # A process that ends frees nothing of what it shares with the server: to free it is to copy it first.
    *CORE::GLOBAL::exit = sub { leave($_[0] // 0) };
    # OAR::IO before what it is used by, as in the modules: the other way round it does not get the names of the log. And all of them before
    # exec is another one: they have ways to write it that only Perl's own knows.
    for my $used (qw(OAR::IO OAR::Modules::Judas OAR::Modules::Hulot OAR::PingChecker OAR::Schedulers::GanttHoleStorage OAR::Walltime
        English IO::Socket::INET IPC::Open2)) {
        eval "require $used; 1" or die $@;
    }
    eval "require DBD::$_" for qw(Pg mysql); # a release has one of them, or both
    *CORE::GLOBAL::exec = sub {
        my ($program, @arguments) = @_ == 1 ? split(' ', $_[0]) : @_;
        become($program, @arguments) if $modules{$program} && !grep { /[^\w.]/ } @arguments;
        return @_ == 1 ? CORE::exec($_[0]) : CORE::exec(@_);
    };
}

# become MODULE ARGUMENT...: does in this process, which was forked for it, what exec would in its place, and never returns.
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

# leave STATUS: exec, which finds no such program here, writes out first what is still to be written.
sub leave {
    no warnings;
    CORE::exec {'/'} '/';
    POSIX::_exit($_[0]);
}

# close_files closes what exec closes: all but the first three. Perl's own handles first: one that is opened anew would close, by its old
# number, what has that number by then.
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
