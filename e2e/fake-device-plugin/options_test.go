// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

func TestServeOptionsAreUnderstood(t *testing.T) {
	directory := t.TempDir()
	var out, complaints bytes.Buffer
	options, _, done := parseServe([]string{
		"--mount", "/opt/cann:/usr/local/Ascend", "--ascend", "huawei.com/Ascend910=4", "--ascend-docker=huawei.com/ascend-1980=2",
		"--rdma", "rdma/hca=8", "--plugin-dir", directory, "--dev-dir", directory, "--health-file", "/run/health", "--device-info", "node-1",
	}, &out, &complaints)
	if done {
		t.Fatalf("refused: %s", complaints.String())
	}
	mounts := []Mount{{"/opt/cann", "/usr/local/Ascend"}}
	want := Options{
		Resources: []Resource{
			{"huawei.com/Ascend910", Ascend, 4, mounts}, {"huawei.com/ascend-1980", AscendDocker, 2, mounts}, {"rdma/hca", RDMA, 8, nil},
		},
		PluginDir: directory, DevDir: directory, HealthFile: "/run/health", DeviceInfoNode: "node-1",
	}
	if !reflect.DeepEqual(options, want) {
		t.Errorf("got %+v, want %+v", options, want)
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	for _, refused := range []struct{ args, because string }{
		{"", `no command ""`},
		{"start", `no command "start"`},
		{"inspect", "inspect needs the id of a container"},
		{"inspect containerd://1", "inspect needs the id of a container"},
		{"allocations now", `unexpected argument "now"`},
		{"serve", "no resource: give --ascend, --ascend-docker or --rdma"},
		{"serve --npu a.b/c=1", "flag provided but not defined: -npu"},
		{"serve --ascend", "flag needs an argument"},
		{"serve --ascend huawei.com/Ascend910", "write NAME=COUNT"},
		{"serve --ascend huawei.com/Ascend910=many", "write NAME=COUNT"},
		{"serve --ascend huawei.com/Ascend910=0", "0 is no number of devices: there can be 1 to 64"},
		{"serve --ascend huawei.com/Ascend910=65", "65 is no number of devices"},
		{"serve --rdma hca=1", `"hca" is no name of an extended resource`},
		{"serve --rdma node.kubernetes.io/hca=1", "with a domain other than kubernetes.io"},
		{"serve --rdma a.b/c=1 --rdma a.b/c=2", "resource a.b/c is given twice"},
		{"serve --ascend a.b/c=1 --ascend a.b/d=1", "--ascend is given twice"},
		{"serve --rdma a.b/c=1 --mount /a:/b", "--mount is for containers with NPUs"},
		{"serve --rdma a.b/c=1 --device-info node", "--device-info tells of NPUs"},
		{"serve --ascend a.b/c=1 --mount a:/b", "write HOST:CONTAINER with two absolute paths"},
		{"serve --ascend a.b/c=1 --mount /a:/b:ro", "write HOST:CONTAINER with two absolute paths"},
		{"serve --ascend a.b/c=1 --plugin-dir /none", "--plugin-dir: there is no directory /none"},
		{"serve --ascend a.b/c=1 --plugin-dir /tmp --dev-dir /none", "--dev-dir: there is no directory /none"},
	} {
		t.Run(refused.args, func(t *testing.T) {
			var out, complaints bytes.Buffer
			status := run(t.Context(), strings.Fields(refused.args), &out, &complaints)
			if status != exitUsage || !strings.Contains(complaints.String(), refused.because) || out.Len() > 0 {
				t.Errorf("status %d, printed %q, want status %d because %q", status, complaints.String(), exitUsage, refused.because)
			}
		})
	}
}

func TestHelpNamesEveryOption(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}} {
		var out, complaints bytes.Buffer
		if status := run(t.Context(), args, &out, &complaints); status != 0 || complaints.Len() > 0 {
			t.Errorf("%v: status %d, complaints %q", args, status, complaints.String())
		}
		for _, option := range []string{"-ascend ", "-ascend-docker ", "-rdma ", "-mount ", "-health-file ", "-device-info ", "-plugin-dir ", "-dev-dir "} {
			if !strings.Contains(out.String(), "  "+option) {
				t.Errorf("%v does not name %s: %s", args, option, out.String())
			}
		}
	}
}
