package mailbox

import "sync"

// Mailbox holds the newest state of a cluster and the newest orders for it. The cluster's sidecar and the loop of applications each have
// one end. No method blocks.
type Mailbox struct {
	mu      sync.Mutex
	state   *ClusterState
	orders  []Order
	shown   chan struct{}
	ordered chan struct{}
}

// NewMailbox is one without a state and without orders.
func New() *Mailbox {
	return &Mailbox{shown: make(chan struct{}, 1), ordered: make(chan struct{}, 1)}
}

// Show puts a state in the place of the former. The sidecar calls it, and does not touch the state afterwards.
func (m *Mailbox) Show(b ClusterState) {
	m.mu.Lock()
	m.state = &b
	m.mu.Unlock()
	knock(m.shown)
}

// State returns the newest state; nil before the first.
func (m *Mailbox) State() *ClusterState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// Shown has a word soon after a state was shown. One word may stand for several.
func (m *Mailbox) Shown() <-chan struct{} { return m.shown }

// Order puts all orders in the place of the former. The loop calls it, and does not touch the slice afterwards.
func (m *Mailbox) Order(all []Order) {
	if all == nil {
		all = []Order{}
	}
	m.mu.Lock()
	m.orders = all
	m.mu.Unlock()
	knock(m.ordered)
}

// Orders are the newest ones; nil before the first word of the loop.
func (m *Mailbox) Orders() []Order {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.orders
}

// Ordered has a word soon after orders were given. One word may stand for several.
func (m *Mailbox) Ordered() <-chan struct{} { return m.ordered }

func knock(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
