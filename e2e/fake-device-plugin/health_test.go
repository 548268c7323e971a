// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var twoDevices = []string{"Ascend910-0", "Ascend910-1"}

func TestFaultsAreReadFromTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "health")
	if faults, err := readFaults(file, twoDevices); err != nil || len(faults) > 0 {
		t.Errorf("without a file: %v, %v", faults, err)
	}
	write(t, file, "# sick\n\nAscend910-1 Unhealthy\nAscend910-0 NetworkUnhealthy SubHealthFault 81078603\n")
	faults, err := readFaults(file, twoDevices)
	want := map[string]Fault{"Ascend910-1": {unhealthy, "SeparateNPU", ""}, "Ascend910-0": {networkUnhealthy, "SubHealthFault", "81078603"}}
	if err != nil || !reflect.DeepEqual(faults, want) {
		t.Errorf("got %v, %v, want %v", faults, err, want)
	}
}

func TestAFileThatSaysNothingIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "health")
	for line, because := range map[string]string{
		"Ascend910-2 Unhealthy":                `line 2: no device "Ascend910-2"; there are Ascend910-0, Ascend910-1`,
		"Ascend910-1":                          "line 2: write Ascend910-1 Unhealthy or NetworkUnhealthy",
		"Ascend910-1 Healthy":                  "line 2: write Ascend910-1 Unhealthy or NetworkUnhealthy",
		"Ascend910-1 Unhealthy Bad":            `line 2: no level "Bad"; there are NotHandleFault`,
		"Ascend910-1 Unhealthy RestartNPU 1 2": "line 2: write Ascend910-1",
	} {
		write(t, file, "\n"+line)
		if _, err := readFaults(file, twoDevices); err == nil || !strings.Contains(err.Error(), because) {
			t.Errorf("%q: got %v, want %q", line, err, because)
		}
	}
}

func TestTheProgramDoesNotStartWithSuchAFile(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "health")
	write(t, file, "Ascend910-9 Unhealthy")
	err := serve(t.Context(), Options{
		Resources: []Resource{{"huawei.com/Ascend910", AscendDocker, 2, nil}}, PluginDir: directory, DevDir: directory, HealthFile: file,
	})
	if err == nil || !strings.Contains(err.Error(), `no device "Ascend910-9"`) {
		t.Errorf("got %v", err)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	// A reader of the file never sees half of it.
	if err := os.WriteFile(file+".new", []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}
