! Reads the hosts file of a job that never calls `accordion step`. It needs only Fortran 2008.
!
!     type(hosts) :: now
!     call read_hosts(path, now, status)     ! path: the output of `accordion nodes --file` in the job
!     if (status == 0) print *, now%generation, now%name
module accordion_hosts
    implicit none
    private
    public :: hosts, read_hosts

    integer, parameter, public :: long = selected_int_kind(18)
    integer, parameter, public :: name_length = 256

    type :: hosts
        integer :: generation = 0                     ! number of resizes; a different number means different nodes
        integer :: step = 0, steps = 0                ! the step that the nodes are for, counted from 1, and the number of steps
        integer(long) :: from = 0                     ! Unix second of the step's begin; before that, the nodes are those that will stay
        integer(long) :: until = 0                    ! planned Unix second of the step's end
        character(name_length), allocatable :: name(:) ! the nodes; the one that runs the batch script is the first
    end type

contains

    ! status is 0 if the file was read, -1 if the file does not exist (yet), and -2 if it is not a hosts file.
    subroutine read_hosts(path, h, status)
        character(*), intent(in) :: path
        type(hosts), intent(out) :: h
        integer, intent(out) :: status
        character(1024) :: line
        integer :: unit, nodes, known, failed

        status = -1
        open (newunit=unit, file=path, status='old', action='read', iostat=failed)
        if (failed /= 0) return
        status = -2
        read (unit, '(a)', iostat=failed) line
        if (failed == 0 .and. line(1:1) == '#') then
            nodes = int(number(line, 'nodes'))
            h%generation = int(number(line, 'generation'))
            h%step = int(number(line, 'step'))
            h%steps = int(number(line, 'steps'))
            h%from = number(line, 'from')
            h%until = number(line, 'until')
            known = 0
            if (nodes > 0 .and. nodes <= 1000000 .and. min(h%generation, h%step, h%steps) >= 0 .and. min(h%from, h%until) >= 0) then
                allocate (h%name(nodes))
                do
                    read (unit, '(a)', iostat=failed) line
                    if (failed /= 0) exit
                    if (line == '' .or. line(1:1) == '#') cycle
                    known = known + 1
                    if (known <= nodes) h%name(known) = line(:name_length)
                end do
                if (known == nodes) status = 0
            end if
        end if
        close (unit)
    end subroutine

    ! number returns the number after ` key=` in a line, or -1 if the key is missing. It skips other words.
    integer(long) function number(line, key)
        character(*), intent(in) :: line, key
        integer :: at, failed

        number = -1
        at = index(line, ' '//key//'=')
        if (at == 0) return
        at = at + len(key) + 2
        read (line(at:at + scan(line(at:), ' ') - 2), *, iostat=failed) number
        if (failed /= 0) number = -1
    end function
end module

! Prints a hosts file as `generation step steps from until node,node,…`:  gfortran -o show hosts.f90 && ./show FILE
program show
    use accordion_hosts
    implicit none
    type(hosts) :: h
    character(4096) :: path
    integer :: status, i

    call get_command_argument(1, path)
    call read_hosts(trim(path), h, status)
    if (status /= 0) error stop 1
    write (*, '(3(i0,1x),2(i0,1x))', advance='no') h%generation, h%step, h%steps, h%from, h%until
    do i = 1, size(h%name)
        if (i > 1) write (*, '(a)', advance='no') ','
        write (*, '(a)', advance='no') trim(h%name(i))
    end do
    write (*, '()')
end program
