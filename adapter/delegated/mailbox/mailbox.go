package mailbox

import "sync"

// Mailbox holds the newest state of a cluster, and the newest orders for the cluster. The cluster's sidecar writes the state and reads
// the orders. The loop of applications reads the state and writes the orders. No method blocks.
type Mailbox struct {
	mu      sync.Mutex
	state   *ClusterState
	orders  []Order
	shown   chan struct{}
	ordered chan struct{}
}

// New returns a Mailbox without a state and without orders.
func New() *Mailbox {
	return &Mailbox{shown: make(chan struct{}, 1), ordered: make(chan struct{}, 1)}
}

// Show replaces the state. The sidecar calls it, and must not change the state afterwards.
func (m *Mailbox) Show(s ClusterState) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = &s
	notify(m.shown)
}

// State returns the newest state, or nil if there is none yet.
func (m *Mailbox) State() *ClusterState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Shown returns a channel that receives a value soon after Show was called. One value may stand for several calls.
func (m *Mailbox) Shown() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown
}

// NotifyShown sets the channel that Shown returns. The channel must have a buffer. Several mailboxes may share a channel.
func (m *Mailbox) NotifyShown(c chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shown = c
}

// Order replaces all orders. The loop calls it, and must not change the slice afterwards.
func (m *Mailbox) Order(all []Order) {
	if all == nil {
		all = []Order{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.orders = all
	notify(m.ordered)
}

// Orders returns the newest orders, or nil if Order has not been called yet.
func (m *Mailbox) Orders() []Order {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.orders
}

// Ordered returns a channel that receives a value soon after Order was called. One value may stand for several calls.
func (m *Mailbox) Ordered() <-chan struct{} { return m.ordered }

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
