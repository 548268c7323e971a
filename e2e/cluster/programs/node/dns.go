// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	_ "github.com/coredns/coredns/plugin/cache"       // keeps answers
	_ "github.com/coredns/coredns/plugin/errors"      // logs failures
	_ "github.com/coredns/coredns/plugin/forward"     // names outside the cluster
	_ "github.com/coredns/coredns/plugin/kubernetes"  // Services and pods
	_ "github.com/coredns/coredns/plugin/loadbalance" // shuffles records of headless Services
)

// runDNS serves cluster DNS with CoreDNS. Only the plugins that a Corefile of this cluster names are linked: the full set
// brings the client libraries of several clouds, which take longer to compile than all of Kubernetes' own programs.
func runDNS(args []string) int {
	flags := flag.NewFlagSet("coredns", flag.ContinueOnError)
	path := flags.String("conf", "Corefile", "file that says what to serve")
	if err := flags.Parse(args[1:]); err != nil {
		return 2
	}
	corefile, err := os.ReadFile(*path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot read the configuration: %v\n", err)
		return 1
	}
	// The order is the order in which a query passes the plugins.
	dnsserver.Directives = []string{"errors", "cache", "loadbalance", "kubernetes", "forward"}
	caddy.TrapSignals()
	instance, err := caddy.Start(caddy.CaddyfileInput{Filepath: *path, Contents: corefile, ServerTypeName: "dns"})
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start: %v\n", err)
		return 1
	}
	instance.Wait()
	return 0
}
