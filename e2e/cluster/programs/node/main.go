// SPDX-License-Identifier: Apache-2.0

// Command node is a whole Kubernetes node in one static program. It acts by the name it is called with, so one file
// with hard links or symbolic links named kube-apiserver, etcd, kubelet and so on stands for all of them. One link step
// instead of eight keeps the build short and the image small, because the programs share most of their code.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // kubernetes_build_info on /metrics
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

// programs maps each name to the program's main function, which returns the exit status.
var programs = map[string]func(args []string) int{
	"coredns":                 runDNS,
	"etcd":                    runEtcd,
	"kube-apiserver":          func([]string) int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func([]string) int { return cli.Run(controllers.NewControllerManagerCommand()) },
	"kube-proxy":              func([]string) int { return cli.Run(proxy.NewProxyCommand()) },
	"kube-scheduler":          func([]string) int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kubectl":                 runKubectl,
	"kubelet":                 func([]string) int { return cli.Run(kubelet.NewKubeletCommand()) },
}

func main() {
	name := filepath.Base(os.Args[0])
	program, known := programs[name]
	if !known {
		names := make([]string, 0, len(programs))
		for n := range programs {
			names = append(names, n)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "no program named %q in this file: call it through a link named one of %s\n",
			name, strings.Join(names, ", "))
		os.Exit(2)
	}
	os.Exit(program(os.Args))
}

// runEtcd never returns a failure: etcd ends the process itself when it fails.
func runEtcd(args []string) int {
	etcdmain.Main(args)
	return 0
}

// runKubectl lets kubectl print its own errors, which are phrased for people.
func runKubectl([]string) int {
	if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
	return 0
}
