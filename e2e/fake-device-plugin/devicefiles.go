// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	// Device files of NPUs belong to group HwHiAiUser, whose id usually is this one, and are closed to others.
	deviceGroup = 1000
	deviceMode  = 0o660

	nullMajor, nullMinor = 1, 3
)

// makeDeviceFiles makes those that are missing. They swallow what is written and are always at their end, as /dev/null.
func makeDeviceFiles(devDir string, files []string) error {
	for _, file := range files {
		path := filepath.Join(devDir, file)
		if err := makeDeviceFile(path); err != nil {
			return fmt.Errorf("cannot make device file %s, which takes root with CAP_MKNOD and CAP_CHOWN: %w", path, err)
		}
	}
	return nil
}

func makeDeviceFile(path string) error {
	if info, err := os.Stat(path); err == nil {
		// A real device is left alone, and given to containers as it is.
		if info.Mode()&fs.ModeCharDevice == 0 {
			return errors.New("there is something else")
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := syscall.Mknod(path, syscall.S_IFCHR|deviceMode, nullMajor<<8|nullMinor); err != nil {
		return err
	}
	if err := os.Chown(path, 0, deviceGroup); err != nil {
		return err
	}
	// The file mode creation mask may have taken bits away.
	return os.Chmod(path, deviceMode)
}
