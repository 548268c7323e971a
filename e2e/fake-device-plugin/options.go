// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	mostDevices        = 64
	podResourcesSocket = "/var/lib/kubelet/pod-resources/kubelet.sock"
)

// As the API server wants names of extended resources.
var resourceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)

// Options are what `serve` is told.
type Options struct {
	Resources  []Resource
	PluginDir  string
	DevDir     string
	HealthFile string
	// DeviceInfoNode is the node whose ConfigMap of device health is kept; empty for none.
	DeviceInfoNode string
}

// parseServe says in done whether the program is to end with the status.
func parseServe(args []string, out, complaints io.Writer) (options Options, status int, done bool) {
	flags, finish := serveFlags(&options)
	if status, done := parse(flags, args, out, complaints); done {
		return options, status, done
	}
	if err := finish(); err != nil {
		fmt.Fprintf(complaints, "fake-device-plugin serve: %v\n", err)
		return options, exitUsage, true
	}
	return options, 0, false
}

func parseAllocations(args []string, out, complaints io.Writer) (socket string, status int, done bool) {
	flags := flag.NewFlagSet("allocations", flag.ContinueOnError)
	flags.StringVar(&socket, "socket", podResourcesSocket, "the kubelet's `FILE` for pod resources")
	status, done = parse(flags, args, out, complaints)
	return socket, status, done
}

// parse leaves what flag itself prints to the caller's writers: help is no complaint.
func parse(flags *flag.FlagSet, args []string, out, complaints io.Writer) (status int, done bool) {
	flags.SetOutput(io.Discard)
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	switch {
	case err == nil:
		return 0, false
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(out, "options of %s:\n", flags.Name())
		flags.SetOutput(out)
		flags.PrintDefaults()
		return 0, true
	default:
		fmt.Fprintf(complaints, "fake-device-plugin %s: %v\n", flags.Name(), err)
		return exitUsage, true
	}
}

func printServeOptions(out io.Writer) {
	flags, _ := serveFlags(&Options{})
	fmt.Fprintln(out, "options of serve:")
	flags.SetOutput(out)
	flags.PrintDefaults()
}

// serveFlags returns what checks the options once they are parsed.
func serveFlags(options *Options) (*flag.FlagSet, func() error) {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	var mounts []Mount
	resource := func(kind Kind) func(string) error {
		return func(value string) error {
			parsed, err := parseResource(kind, value)
			options.Resources = append(options.Resources, parsed)
			return err
		}
	}
	flags.Func("ascend", "NPUs, `NAME=COUNT`, allocated as by Ascend's plugin with -useAscendDocker=false: device files, no environment",
		resource(Ascend))
	flags.Func("ascend-docker", "NPUs, `NAME=COUNT`, allocated as by Ascend's plugin with -useAscendDocker=true: environment for"+
		" ascend-docker-runtime, no device files", resource(AscendDocker))
	flags.Func("rdma", "shares of one RDMA card, `NAME=COUNT`; each container gets the card's device files", resource(RDMA))
	flags.Func("mount", "directory of the host, `HOST:CONTAINER`, mounted read only into containers with NPUs, for example with fake libraries of"+
		" CANN; the real plugin never mounts any", func(value string) error {
		mount, err := parseMount(value)
		mounts = append(mounts, mount)
		return err
	})
	flags.StringVar(&options.HealthFile, "health-file", "", "`FILE` with a line \"DEVICE Unhealthy|NetworkUnhealthy [LEVEL [CODE]]\" for each"+
		" device that is not healthy; followed while it runs, and may be absent")
	flags.StringVar(&options.DeviceInfoNode, "device-info", "", "keep ConfigMap kube-system/"+deviceInfoPrefix+"`NODE` as Ascend's plugin does, and label the"+
		" node; needs a service account that may patch both")
	flags.StringVar(&options.PluginDir, "plugin-dir", v1beta1.DevicePluginPath, "`DIR` of the kubelet's socket")
	flags.StringVar(&options.DevDir, "dev-dir", "/dev", "`DIR` where the node's /dev is; device files that are missing are made, and are like /dev/null")
	return flags, func() error {
		for i := range options.Resources {
			if options.Resources[i].Kind != RDMA {
				options.Resources[i].Mounts = mounts
			}
		}
		return options.check(len(mounts) > 0)
	}
}

func parseResource(kind Kind, value string) (Resource, error) {
	name, number, ok := strings.Cut(value, "=")
	count, err := strconv.Atoi(number)
	switch {
	case !ok || err != nil:
		return Resource{}, errors.New("write NAME=COUNT, for example huawei.com/Ascend910=8")
	case !resourceName.MatchString(name) || strings.Contains(strings.SplitN(name, "/", 2)[0], "kubernetes.io"):
		return Resource{}, fmt.Errorf("%q is no name of an extended resource: write DOMAIN/NAME, with a domain other than kubernetes.io", name)
	case count < 1 || count > mostDevices:
		return Resource{}, fmt.Errorf("%d is no number of devices: there can be 1 to %d", count, mostDevices)
	}
	return Resource{Name: name, Kind: kind, Count: count}, nil
}

func parseMount(value string) (Mount, error) {
	host, container, ok := strings.Cut(value, ":")
	if !ok || !filepath.IsAbs(host) || !filepath.IsAbs(container) || strings.Contains(container, ":") {
		return Mount{}, errors.New("write HOST:CONTAINER with two absolute paths")
	}
	return Mount{Host: host, Container: container}, nil
}

func (o Options) check(mounts bool) error {
	names, kinds := map[string]bool{}, map[Kind]int{}
	for _, resource := range o.Resources {
		if names[resource.Name] {
			return fmt.Errorf("resource %s is given twice", resource.Name)
		}
		names[resource.Name] = true
		kinds[resource.Kind]++
	}
	switch {
	case len(o.Resources) == 0:
		return errors.New("no resource: give --ascend, --ascend-docker or --rdma")
	case kinds[Ascend] > 1:
		return errors.New("--ascend is given twice: both resources would hand out the same device files")
	case mounts && kinds[Ascend]+kinds[AscendDocker] == 0:
		return errors.New("--mount is for containers with NPUs, and there is no resource of NPUs")
	case o.DeviceInfoNode != "" && kinds[Ascend]+kinds[AscendDocker] == 0:
		return errors.New("--device-info tells of NPUs, and there is no resource of NPUs")
	}
	for flag, directory := range map[string]string{"--plugin-dir": o.PluginDir, "--dev-dir": o.DevDir} {
		if info, err := os.Stat(directory); err != nil || !info.IsDir() {
			return fmt.Errorf("%s: there is no directory %s; is the node's mounted?", flag, directory)
		}
	}
	return nil
}
