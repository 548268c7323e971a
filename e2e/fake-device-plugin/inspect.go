// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What every container has in /dev.
var usualFiles = []string{"console", "full", "null", "ptmx", "random", "tty", "urandom", "zero"}

// Container is what the first process of a container has, as the kernel tells it. Images without a shell cannot be asked.
type Container struct {
	Environment map[string]string `json:"environment"`
	// Devices are character devices in /dev beside those of every container.
	Devices []DeviceFile     `json:"devices"`
	Mounts  []ContainerMount `json:"mounts"`
}

// DeviceFile is named as in the container.
type DeviceFile struct {
	Path  string `json:"path"`
	Major uint64 `json:"major"`
	Minor uint64 `json:"minor"`
}

// ContainerMount is named as in the container.
type ContainerMount struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"readOnly"`
}

// inspect looks at a container by its id.
func inspect(proc, id string) (Container, error) {
	process, err := firstProcess(proc, id)
	if err != nil {
		return Container{}, err
	}
	return inspectProcess(process)
}

func inspectProcess(process string) (container Container, err error) {
	if container.Environment, err = environment(process); err != nil {
		return container, err
	}
	if container.Mounts, err = mounts(process); err != nil {
		return container, err
	}
	container.Devices, err = devices(filepath.Join(process, "root/dev"))
	return container, err
}

// firstProcess is the folder of the process which is number 1 in the container.
func firstProcess(proc, id string) (string, error) {
	processes, err := filepath.Glob(filepath.Join(proc, "[0-9]*"))
	if err != nil {
		return "", err
	}
	for _, process := range processes {
		// One that ended meanwhile is none of them.
		groups, _ := os.ReadFile(filepath.Join(process, "cgroup"))
		status, _ := os.ReadFile(filepath.Join(process, "status"))
		if strings.Contains(string(groups), id) && isFirst(string(status)) {
			return process, nil
		}
	}
	return "", fmt.Errorf("no process of container %s on this node; this pod needs the node's process ids (hostPID)", id)
}

// isFirst tells by the numbers that a process has in its process namespaces, the innermost last.
func isFirst(status string) bool {
	for _, line := range strings.Split(status, "\n") {
		if numbers, found := strings.CutPrefix(line, "NSpid:"); found {
			words := strings.Fields(numbers)
			return len(words) > 1 && words[len(words)-1] == "1"
		}
	}
	return false
}

func environment(process string) (map[string]string, error) {
	content, err := os.ReadFile(filepath.Join(process, "environ"))
	environment := map[string]string{}
	for _, entry := range strings.Split(string(content), "\x00") {
		if name, value, ok := strings.Cut(entry, "="); ok {
			environment[name] = value
		}
	}
	return environment, err
}

func mounts(process string) ([]ContainerMount, error) {
	content, err := os.ReadFile(filepath.Join(process, "mountinfo"))
	mounts := []ContainerMount{}
	for _, line := range strings.Split(string(content), "\n") {
		// Number, parent, device, root, path, options.
		if words := strings.Fields(line); len(words) > 5 {
			mounts = append(mounts, ContainerMount{Path: words[4], ReadOnly: slices.Contains(strings.Split(words[5], ","), "ro")})
		}
	}
	return mounts, err
}

func devices(directory string) ([]DeviceFile, error) {
	devices := []DeviceFile{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(directory, path)
		if err != nil {
			return err
		}
		if name == "pts" {
			return fs.SkipDir
		}
		if entry.Type()&fs.ModeCharDevice == 0 || slices.Contains(usualFiles, name) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		number := info.Sys().(*syscall.Stat_t).Rdev
		// As the kernel's new encoding has them.
		devices = append(devices, DeviceFile{Path: "/dev/" + name, Major: number >> 8 & 0xfff, Minor: number&0xff | number>>12&0xfff00})
		return nil
	})
	return devices, err
}
