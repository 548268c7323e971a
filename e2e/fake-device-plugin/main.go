// SPDX-License-Identifier: Apache-2.0

// Command fake-device-plugin stands for the device plugins of NPUs and RDMA cards where there are none: a real kubelet
// gives containers what it answers. See README.md beside this file.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage: fake-device-plugin serve --ascend|--ascend-docker|--rdma NAME=COUNT... [OPTIONS]
       fake-device-plugin allocations [--socket FILE]
       fake-device-plugin inspect CONTAINER_ID

serve        registers the resources at the kubelet of this node and answers it until SIGTERM
allocations  prints which containers hold which devices, as the kubelet says, as JSON
inspect      prints environment, device files and mounts of a running container, as JSON; needs the node's process ids

`

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	log.SetFlags(log.Ltime | log.LUTC)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run returns the exit status.
func run(ctx context.Context, args []string, out, complaints io.Writer) int {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "serve":
		options, status, done := parseServe(args[1:], out, complaints)
		if done {
			return status
		}
		return report(serve(ctx, options), complaints)
	case "allocations":
		socket, status, done := parseAllocations(args[1:], out, complaints)
		if done {
			return status
		}
		held, err := allocations(ctx, socket)
		return printJSON(held, err, out, complaints)
	case "inspect":
		if len(args) != 2 || len(args[1]) < 32 {
			fmt.Fprintln(complaints, "inspect needs the id of a container, without the runtime's prefix")
			return exitUsage
		}
		seen, err := inspect("/proc", args[1])
		return printJSON(seen, err, out, complaints)
	case "help", "-h", "--help":
		fmt.Fprint(out, usage)
		printServeOptions(out)
		return 0
	default:
		fmt.Fprintf(complaints, "no command %q\n\n%s", command, usage)
		return exitUsage
	}
}

func report(err error, complaints io.Writer) int {
	if err != nil {
		fmt.Fprintf(complaints, "fake-device-plugin: %v\n", err)
		return exitFailure
	}
	return 0
}

func printJSON(value any, err error, out, complaints io.Writer) int {
	if err == nil {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(value)
	}
	return report(err, complaints)
}
