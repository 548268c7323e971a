// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

const containerID = "4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee4f1c0ffee0"

// process makes a folder as the kernel has one for a process.
func process(t *testing.T, proc, number, group, numbers string) string {
	t.Helper()
	folder := filepath.Join(proc, number)
	for name, content := range map[string]string{
		"cgroup":    "0::/kubepods/" + group + "\n",
		"status":    "Name:\tjava\nNSpid:\t" + numbers + "\n",
		"environ":   "PATH=/bin\x00ASCEND_VISIBLE_DEVICES=0,1\x00EMPTY=\x00",
		"mountinfo": "1 0 0:1 / / ro,relatime - overlay overlay rw\n2 1 0:2 /x /usr/local/Ascend ro,nosuid - ext4 /dev/a rw\n3 1 0:3 / /dev rw - tmpfs tmpfs rw\n",
	} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), content)
	}
	return folder
}

func TestAContainerIsSeenAsItsFirstProcessHasIt(t *testing.T) {
	proc := t.TempDir()
	process(t, proc, "7", "other", "7 1")
	process(t, proc, "9", containerID, "9 12")
	dev := filepath.Join(process(t, proc, "11", containerID, "11 1"), "root/dev")
	for _, directory := range []string{"pts", "infiniband"} {
		if err := os.MkdirAll(filepath.Join(dev, directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, number := range map[string]int{"null": 0x103, "davinci1": 0x103, "infiniband/uverbs0": 0xe7c0, "pts/0": 0x8800} {
		if err := syscall.Mknod(filepath.Join(dev, file), syscall.S_IFCHR|0o600, number); err != nil {
			t.Fatal(err)
		}
	}

	container, err := inspect(proc, containerID)
	want := Container{
		Environment: map[string]string{"PATH": "/bin", "ASCEND_VISIBLE_DEVICES": "0,1", "EMPTY": ""},
		Devices:     []DeviceFile{{"/dev/davinci1", 1, 3}, {"/dev/infiniband/uverbs0", 231, 192}},
		Mounts:      []ContainerMount{{"/", true}, {"/usr/local/Ascend", true}, {"/dev", false}},
	}
	if err != nil || !reflect.DeepEqual(container, want) {
		t.Errorf("got %+v, %v, want %+v", container, err, want)
	}
}

func TestAContainerThatIsNotHereIsNamed(t *testing.T) {
	proc := t.TempDir()
	process(t, proc, "9", containerID, "9 12")
	_, err := inspect(proc, containerID)
	if err == nil || !strings.Contains(err.Error(), "no process of container "+containerID) {
		t.Errorf("got %v", err)
	}
}
