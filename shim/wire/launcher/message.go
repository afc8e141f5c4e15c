package launcher

// Version is what a session's first frame says in "v".
const Version = 2

// The largest frames, in bytes without their length: what the server takes, and what a launcher or a part takes.
const (
	MostToServer = 64 << 10
	MostToClient = 4 << 20
)

// Message is one message of a session. Each is a type of this package, passed as a pointer. The tags of its fields say their keys in a
// frame; omitempty: not sent when zero; lists: each element is a list of its fields' values, not a map.
type Message interface {
	// Type is its "t".
	Type() string
}

// Hello is the first frame of a session: a new application's when it has neither App nor Part, else a launcher that comes back, or a part.
type Hello struct {
	Version int    `codec:"v"`
	Speaks  []int  `codec:"speaks"`
	Name    string `codec:"name,omitempty"`    // of the application, at most 64 bytes
	App     int64  `codec:"app,omitempty"`     // come back to this application
	Have    int64  `codec:"have,omitempty"`    // the last view that it has whole; 0: none
	Part    *Part  `codec:"part,omitempty"`    // it is a part's barrier
	Key     []byte `codec:"key,omitempty"`     // X25519 public key, on TCP
	Deflate int    `codec:"deflate,omitempty"` // the newest way of packing frames that it knows (packed.Version); 0: none
}

// Part is a batch job of an application on a cluster, both as their users call them. In lists it is [cluster, job]. A job does not know
// what its cluster is called: in Hello "" stands for that of the sidecar that is asked.
type Part struct {
	Cluster string `codec:"c"`
	Job     int64  `codec:"job"`
}

// Welcome answers Hello. Spans are seconds.
type Welcome struct {
	Version int     `codec:"v"`
	App     int64   `codec:"app"`
	State   string  `codec:"state"` // as core/delegated.State says it
	Now     int64   `codec:"now"`   // Unix seconds of the sidecar's clock
	Pace    float64 `codec:"pace"`  // seconds of that clock a second; 1 but for embedded clusters
	Tag     int64   `codec:"tag"`   // of the request in force; -1: none
	Grace   int64   `codec:"grace"`
	Timer   int64   `codec:"timer"`
	Fair    int64   `codec:"fair"`
	Answer  int64   `codec:"answer"`
	Cluster string  `codec:"cluster,omitempty"` // to a part: the name of its cluster
	Key     []byte  `codec:"key,omitempty"`
	Deflate int     `codec:"deflate,omitempty"` // how the frames of this session are packed, both ways, from the next one on; 0: not at all
}

// Subscribe says which clusters a launcher wants to see, and which batch jobs wait there for its parts.
type Subscribe struct {
	Filter Filter `codec:"filter"`
	Most   int64  `codec:"most"`       // the largest walltime it will ask for, seconds; 0: any
	Jobs   []Part `codec:"jobs,lists"` // [] on embedded clusters
}

// Filter leaves clusters out. Zero values leave out none. Memory is MiB.
type Filter struct {
	MinHosts int               `codec:"min_hosts,omitempty"`
	HostMem  int64             `codec:"host_mem,omitempty"`
	TotalMem int64             `codec:"total_mem,omitempty"`
	Scratch  int64             `codec:"scratch,omitempty"`
	Arch     string            `codec:"arch,omitempty"`
	Attrs    map[string]string `codec:"attrs,omitempty"`
	Clusters []string          `codec:"clusters,omitempty"`
}

// List asks for Clusters without subscribing.
type List struct{}

// Clusters answers Subscribe and List.
type Clusters struct {
	All   []Cluster `codec:"all"`
	Links []Link    `codec:"links"`
}

// Cluster is one that a launcher may see. What is not known is 0 or "".
type Cluster struct {
	C       int               `codec:"c"` // its number in this session's messages
	Name    string            `codec:"name"`
	Hosts   int               `codec:"hosts"`
	Cores   int               `codec:"cores,omitempty"`   // of a host
	Mem     int64             `codec:"mem,omitempty"`     // MiB of a host
	Scratch int64             `codec:"scratch,omitempty"` // MiB of a host
	Arch    string            `codec:"arch,omitempty"`
	Speed   float64           `codec:"speed"`
	Site    string            `codec:"site,omitempty"`
	Attrs   map[string]string `codec:"attrs,omitempty"`
}

// Link is what is between two clusters.
type Link struct {
	A         int   `codec:"a"`
	B         int   `codec:"b"`
	Latency   int64 `codec:"latency"`             // microseconds
	Bandwidth int64 `codec:"bandwidth,omitempty"` // Mbit/s; 0: not known
}

// The kinds of a Change of one cluster; they may be added up.
const (
	KindInfo       = 1
	KindLinks      = 2
	KindOccupation = 4
)

// Change is a view, as its difference from an older one.
type Change struct {
	View int64           `codec:"view"`
	Base int64           `codec:"base"` // the view it differs from; 0: it is whole
	Now  int64           `codec:"now"`  // Unix seconds
	Est  int64           `codec:"est"`  // when the request in force would start; 0: never, or there is none
	All  []ClusterChange `codec:"all"`
}

// ClusterChange replaces what is known of one cluster on [From, To).
type ClusterChange struct {
	C     int      `codec:"c"`
	Kind  int      `codec:"kind"`
	Info  *Cluster `codec:"info,omitempty"`
	Links []Link   `codec:"links,omitempty"`
	From  int64    `codec:"from"`
	To    int64    `codec:"to"`    // 0: for ever
	Steps []int64  `codec:"steps"` // t0,n0,t1,n1,…: n_i hosts are busy from t_i until t_{i+1}, the last for ever (or until To)
}

// Ack says that a view was seen and that the request in force stands.
type Ack struct {
	View int64 `codec:"view"`
}

// Hosts is a number of hosts on a cluster; in a frame the list [c, n].
type Hosts struct {
	C int `codec:"c"`
	N int `codec:"n"`
}

// Names are hosts of a cluster by their names; in a frame the list [c, [names]].
type Names struct {
	C     int      `codec:"c"`
	Hosts []string `codec:"hosts"`
}

// Request says what an application wants from now on, by a view.
type Request struct {
	View     int64   `codec:"view"`
	Tag      int64   `codec:"tag"`
	Hosts    []Hosts `codec:"hosts,lists"`
	Walltime int64   `codec:"walltime"` // seconds
}

// Start says that the request with a tag starts.
type Start struct {
	Tag   int64   `codec:"tag"`
	At    int64   `codec:"at"` // the second of the decision
	By    int64   `codec:"by"` // its latest end
	Hosts []Names `codec:"hosts,lists"`
}

// Lost asks the launcher to submit a batch job again.
type Lost struct {
	C   int    `codec:"c"`
	Job int64  `codec:"job"`
	Why string `codec:"why"`
}

// Parts are batch jobs, new or in place of the former on the same cluster.
type Parts struct {
	Jobs []Part `codec:"jobs,lists"`
}

// Ready is what a part says at the barrier.
type Ready struct {
	Job int64 `codec:"job"`
}

// Go lets the parts through.
type Go struct {
	At    int64    `codec:"at"`
	Hosts []Names  `codec:"hosts,lists"`
	Names []string `codec:"names,omitempty"` // of the clusters, in the order of Hosts: a part subscribes to nothing and knows no numbers
}

// Abort sends a part away before any user code ran.
type Abort struct {
	Why   string `codec:"why"`
	Again bool   `codec:"again"` // the application keeps waiting
}

// Done says that an application, or a part, is over; before Start that the application is withdrawn. To a launcher it says that all parts
// are over, with the code of the first that is not 0: nothing follows.
type Done struct {
	Code int `codec:"code"`
}

// Okay answers Subscribe, Parts, Ready and Done.
type Okay struct {
	To int64 `codec:"to"` // the "s" of what it answers
}

// The codes of Refuse.
const (
	CodeHosts    = "hosts"
	CodeCluster  = "cluster"
	CodeWalltime = "walltime"
	CodeJob      = "job"
	CodeView     = "view"
	CodeState    = "state"
	CodeUnknown  = "unknown"
	CodeFull     = "full"
	CodeAuth     = "auth"
	CodeVersion  = "version"
	CodeFrame    = "frame"
	CodeSize     = "size"
	CodeType     = "type"
	CodeFlood    = "flood"
)

// Refuse says that nothing came of a message. After the codes auth, version, unknown, full, frame, size and flood the connection ends.
type Refuse struct {
	To     int64  `codec:"to"` // the "s" of what is refused; 0: none
	Code   string `codec:"code"`
	Text   string `codec:"text"`            // a sentence for the user
	Field  string `codec:"field,omitempty"` // what in the message is wrong
	Tag    int64  `codec:"tag,omitempty"`   // code state: of the request that was granted
	Speaks []int  `codec:"speaks,omitempty"`
}

// The reasons of End.
const (
	WhyOverrun   = "overrun"
	WhySilent    = "silent"
	WhyViolation = "violation"
	WhyLost      = "lost"
	WhyCancelled = "cancelled"
	WhyNewer     = "newer"
)

// End says that an application is being ended, or that another connection has taken it over.
type End struct {
	Why string `codec:"why"`
	In  int64  `codec:"in"` // seconds until its hosts are taken
}

// Ping asks for a Pong: after 15 s without a frame. After 45 s without any the connection is dead.
type Ping struct{}

// Pong answers Ping.
type Pong struct{}

// ToServer says whether a message is one that launchers or parts send.
func ToServer(m Message) bool {
	switch m.(type) {
	case *Hello, *Subscribe, *List, *Ack, *Request, *Parts, *Ready, *Done, *Ping, *Pong:
		return true
	}
	return false
}

func (*Hello) Type() string     { return "hello" }
func (*Welcome) Type() string   { return "welcome" }
func (*Subscribe) Type() string { return "subscribe" }
func (*List) Type() string      { return "list" }
func (*Clusters) Type() string  { return "clusters" }
func (*Change) Type() string    { return "change" }
func (*Ack) Type() string       { return "ack" }
func (*Request) Type() string   { return "request" }
func (*Start) Type() string     { return "start" }
func (*Lost) Type() string      { return "lost" }
func (*Parts) Type() string     { return "parts" }
func (*Ready) Type() string     { return "ready" }
func (*Go) Type() string        { return "go" }
func (*Abort) Type() string     { return "abort" }
func (*Done) Type() string      { return "done" }
func (*Okay) Type() string      { return "okay" }
func (*Refuse) Type() string    { return "refuse" }
func (*End) Type() string       { return "end" }
func (*Ping) Type() string      { return "ping" }
func (*Pong) Type() string      { return "pong" }
