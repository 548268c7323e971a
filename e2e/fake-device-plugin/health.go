// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	unhealthy        = "Unhealthy"
	networkUnhealthy = "NetworkUnhealthy"

	healthPoll = 200 * time.Millisecond
)

// As Ascend's plugin grades faults; the first ones leave a device in use.
var faultLevels = []string{
	"NotHandleFault", "SubHealthFault", "RestartRequest", "RestartBusiness", "FreeRestartNPU", "RestartNPU", "PreSeparateNPU", "SeparateNPU",
}

// Fault is what is wrong with a device.
type Fault struct {
	// State is Unhealthy, which the kubelet is told, or NetworkUnhealthy, of which Ascend's plugin tells in its ConfigMap only.
	State string
	Level string
	Code  string
}

// Health is the faults of devices, by device; those that it lacks are healthy.
type Health struct {
	mu      sync.Mutex
	faults  map[string]Fault
	changed chan struct{}
}

func newHealth() *Health { return &Health{changed: make(chan struct{})} }

// Faults returns them, with a channel that is closed when they are others.
func (h *Health) Faults() (map[string]Fault, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.faults, h.changed
}

func (h *Health) set(faults map[string]Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if maps.Equal(h.faults, faults) {
		return
	}
	log.Printf("devices that are not healthy: %v", faults)
	h.faults = faults
	close(h.changed)
	h.changed = make(chan struct{})
}

// follow reads the file again and again until the context ends. A file that cannot be understood changes nothing.
func (h *Health) follow(ctx context.Context, file string, devices []string) {
	said := ""
	for sleep(ctx, healthPoll) {
		faults, err := readFaults(file, devices)
		if err == nil {
			h.set(faults)
			said = ""
		} else if err.Error() != said {
			log.Printf("health stays as it was: %v", err)
			said = err.Error()
		}
	}
}

// readFaults finds none when there is no file.
func readFaults(file string, devices []string) (map[string]Fault, error) {
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	faults := map[string]Fault{}
	for number, line := range strings.Split(string(content), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		fault, err := parseFault(words, devices)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, number+1, err)
		}
		faults[words[0]] = fault
	}
	return faults, nil
}

func parseFault(words, devices []string) (Fault, error) {
	fault := Fault{Level: "SeparateNPU"}
	switch {
	case !slices.Contains(devices, words[0]):
		return fault, fmt.Errorf("no device %q; there are %s", words[0], strings.Join(devices, ", "))
	case len(words) < 2 || len(words) > 4 || words[1] != unhealthy && words[1] != networkUnhealthy:
		return fault, fmt.Errorf("write %s %s or %s, and then level and code if you like", words[0], unhealthy, networkUnhealthy)
	case len(words) > 2 && !slices.Contains(faultLevels, words[2]):
		return fault, fmt.Errorf("no level %q; there are %s", words[2], strings.Join(faultLevels, ", "))
	}
	fault.State = words[1]
	if len(words) > 2 {
		fault.Level = words[2]
	}
	if len(words) > 3 {
		fault.Code = words[3]
	}
	return fault, nil
}

// sleep returns false when the context ends first.
func sleep(ctx context.Context, duration time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(duration):
		return true
	}
}
