// SPDX-License-Identifier: Apache-2.0

// Command pause holds the namespaces of a pod. It does nothing until it is told to end, and collects processes of the
// pod that lost their parent, which fall to it when the containers of a pod share one process namespace.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		collectEnded()
	}
}

// collectEnded takes every child that has ended, because one signal may stand for many of them.
func collectEnded() {
	for {
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
	}
}
