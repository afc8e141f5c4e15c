package queue

// ranks is a list of waiting jobs in the order of the queue. It gives and takes at both ends without moving the others, and
// in the middle moves the shorter part.
type ranks struct {
	list []want // from begin on
	from int
}

func (r *ranks) all() []want { return r.list[r.from:] }

func (r *ranks) len() int { return len(r.list) - r.from }

// push puts a job behind all others.
func (r *ranks) push(w want) {
	if len(r.list) == cap(r.list) && r.from > len(r.list)/2 {
		r.list = r.list[:copy(r.list, r.all())]
		r.from = 0
	}
	r.list = append(r.list, w)
}

// insert makes a job number i.
func (r *ranks) insert(i int, w want) {
	r.push(w)
	all := r.all()
	copy(all[i+1:], all[i:])
	all[i] = w
}

// remove takes job number i out.
func (r *ranks) remove(i int) want {
	all := r.all()
	w := all[i]
	if i < len(all)/2 {
		copy(all[1:i+1], all[:i])
		r.from++
	} else {
		copy(all[i:], all[i+1:])
		r.list = r.list[:len(r.list)-1]
	}
	return w
}
