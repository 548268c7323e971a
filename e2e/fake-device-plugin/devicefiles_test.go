// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestMissingDeviceFilesAreMadeAndOthersKept(t *testing.T) {
	directory := t.TempDir()
	if err := makeDeviceFiles(directory, []string{"davinci0", "infiniband/uverbs0"}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"davinci0", "infiniband/uverbs0"} {
		info, err := os.Stat(filepath.Join(directory, file))
		if err != nil {
			t.Fatal(err)
		}
		stat := info.Sys().(*syscall.Stat_t)
		if stat.Mode != syscall.S_IFCHR|0o660 || stat.Rdev != 0x103 || stat.Uid != 0 || stat.Gid != 1000 {
			t.Errorf("%s has mode %o, number %x, owner %d:%d", file, stat.Mode, stat.Rdev, stat.Uid, stat.Gid)
		}
	}

	other := filepath.Join(directory, "davinci1")
	if err := syscall.Mknod(other, syscall.S_IFCHR|0o600, 1<<8|5); err != nil {
		t.Fatal(err)
	}
	if err := makeDeviceFiles(directory, []string{"davinci0", "davinci1"}); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(other); info.Sys().(*syscall.Stat_t).Rdev != 0x105 || info.Mode().Perm() != 0o600 {
		t.Errorf("a device that was there is now %v", info.Mode())
	}

	if err := os.WriteFile(filepath.Join(directory, "davinci2"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeDeviceFiles(directory, []string{"davinci2"}); err == nil || !strings.HasSuffix(err.Error(), "there is something else") {
		t.Errorf("a regular file in its place: %v", err)
	}
}
