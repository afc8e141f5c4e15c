package swf

import (
	"bytes"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// benchmarked returns a log with whole average CPU times, and one with fractions.
func benchmarked(b *testing.B) [][]byte {
	var texts [][]byte
	for _, path := range traces(b) {
		switch LogName(path) {
		case "CEA-Curie-2011-2.1-cln", "HPC2N-2002-2.2-cln":
			texts = append(texts, plain(b, path, 1<<40))
		}
	}
	if len(texts) != 2 {
		b.Skip("the logs of CEA Curie and HPC2N are not there: set ACCORDION_TRACES to a folder that has them")
	}
	return texts
}

// BenchmarkReader must read at least 300 MB/s of plain text on one core. It reads 380 to 430 MB/s in processor time, at a load of 13.
func BenchmarkReader(b *testing.B) {
	for i, text := range benchmarked(b) {
		b.Run([]string{"log=Curie", "log=HPC2N"}[i], func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var r Record
			begin := processorTime(b)
			for b.Loop() {
				in := NewReader(bytes.NewReader(text), "log", Options{Strict: true})
				jobs := 0
				for in.Next(&r) == nil {
					jobs++
				}
				b.ReportMetric(float64(jobs), "jobs")
			}
			b.ReportMetric(float64(b.N)*float64(len(text))/1e6/(processorTime(b)-begin).Seconds(), "MB/cpu-s")
		})
	}
}

// processorTime returns the processor time of this process. Real time would depend on other processes.
func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkNaive measures the naive reader, to compare both on a busy machine.
func BenchmarkNaive(b *testing.B) {
	text := benchmarked(b)[0]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		naive(string(text))
	}
}

// BenchmarkReadFile reads a compressed file into memory. It may use 150 bytes for each job.
func BenchmarkReadFile(b *testing.B) {
	for _, path := range traces(b) {
		b.Run("log="+LogName(path), func(b *testing.B) {
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			var before, after runtime.MemStats
			var log *Log
			for b.Loop() {
				log = nil
				runtime.GC()
				runtime.ReadMemStats(&before)
				if log, err = ReadFile(path, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(len(log.Records)), "B/job")
			runtime.KeepAlive(log)
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	log, err := Read(bytes.NewReader(benchmarked(b)[0]), "Curie", Options{})
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	for b.Loop() {
		if err := Write(io.Discard, log); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(log.Records))/time.Since(begin).Seconds(), "jobs/s")
}
