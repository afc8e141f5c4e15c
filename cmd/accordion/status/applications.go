package status

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/journal"
	"accordion/adapter/readers"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// applicationsReader reads what the loop of applications has written to its journal.
type applicationsReader struct {
	report  status.ApplicationsReport
	journal journal.Reader // nil if not written yet
}

// openApplications reads the journal of applications, if the configuration has a section [delegate] (settings is not nil).
// If the user may not open the journal, it reads through the socket.
func openApplications(settings *config.Delegate, socket string) (*applicationsReader, error) {
	o := &applicationsReader{report: status.NewApplicationsReport(nil, status.Sidecar{})}
	if settings == nil {
		return o, nil
	}
	if _, err := os.Stat(settings.Journal); errors.Is(err, fs.ErrNotExist) {
		return o, nil // the sidecar has not served launchers yet
	}
	j, err := command.OpenApplications(settings.Journal, socket)
	if err != nil {
		return nil, fmt.Errorf("applications: %w", err)
	}
	report, err := status.ReadApplications(j)
	if err != nil {
		j.Close()
		return nil, fmt.Errorf("applications: %w", err)
	}
	return &applicationsReader{report, j}, nil
}

func (o *applicationsReader) close() {
	if o.journal != nil {
		o.journal.Close()
	}
}

// explain returns the state of an application and its reasons.
func (o *applicationsReader) explain(id int64) (*status.ApplicationExplanation, error) {
	if o.journal == nil {
		return nil, status.UnknownApplication(id)
	}
	return status.ExplainApplication(o.report, o.journal, id)
}

// showApplications shows the applications of all clusters, or of the selected one.
func showApplications(s *showing, all []command.Cluster) error {
	if all[0].Delegate == nil {
		return nil
	}
	o, err := openApplications(all[0].Delegate, all[0].Session.Socket)
	if away := (*readers.AwayError)(nil); errors.As(err, &away) && s.shown > 0 {
		return nil // the report of a cluster has already shown the application
	}
	if err != nil {
		return err
	}
	defer o.close()
	report := o.report
	if len(all) == 1 && all[0].Name != "" {
		report = report.On(all[0].Name)
	}
	return s.print(report, report.Table)
}

// explainApplication shows the state of an application and its reasons, for all clusters of the application.
func explainApplication(s *showing, all []command.Cluster, id int64) error {
	if all[0].Delegate == nil {
		return command.Usage(errors.New("explain: --application: the configuration has no section [delegate], so there are no applications"))
	}
	o, err := openApplications(all[0].Delegate, all[0].Session.Socket)
	if err != nil {
		return err
	}
	defer o.close()
	x, err := o.explain(id)
	if err != nil {
		return err
	}
	return s.print(x, x.Write)
}

// ApplicationOf returns the application to which a job of a cluster belongs, or nil if none is known. If the cluster made the job itself,
// the job's request also names the application. `cluster` is "" if there is only one cluster.
func ApplicationOf(settings *config.Delegate, socket, cluster string, job core.JobID, request string) (*status.ApplicationExplanation, error) {
	o, err := openApplications(settings, socket)
	if err != nil {
		return nil, err
	}
	defer o.close()
	named, _ := adapter.ParseLaunch(request)
	for i := range o.report.Applications.Applications {
		if a := &o.report.Applications.Applications[i]; a.ID == named || hasPart(a, cluster, job) {
			return o.explain(a.ID)
		}
	}
	return nil, nil
}

// hasPart reports whether a job is part of an application. `cluster` is "" if there is only one cluster.
func hasPart(a *view.Application, cluster string, job core.JobID) bool {
	for _, p := range a.Parts {
		if p.Job == job && (cluster == "" || p.Cluster == cluster) {
			return true
		}
	}
	return false
}
