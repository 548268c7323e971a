// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Kind says what a container gets for a device of a resource.
type Kind int

const (
	// Ascend NPUs bring their device files.
	Ascend Kind = iota
	// AscendDocker NPUs bring the environment that ascend-docker-runtime acts on.
	AscendDocker
	// RDMA shares of one card bring the card's device files.
	RDMA
)

var (
	// As Ascend's plugin orders them.
	ascendFiles = []string{"davinci_manager", "hisi_hdc", "devmm_svm"}
	rdmaFiles   = []string{"infiniband/rdma_cm", "infiniband/uverbs0", "infiniband/umad0"}
)

// Mount is a directory of the host in a container, read only.
type Mount struct{ Host, Container string }

// Resource is an extended resource with its devices, numbered from 0.
type Resource struct {
	Name   string
	Kind   Kind
	Count  int
	Mounts []Mount
}

// Devices are the names by which the kubelet knows them, for example Ascend910-0.
func (r Resource) Devices() []string {
	devices := make([]string, r.Count)
	for i := range devices {
		devices[i] = fmt.Sprintf("%s-%d", r.deviceType(), i)
	}
	return devices
}

func (r Resource) deviceType() string { return r.Name[strings.Index(r.Name, "/")+1:] }

// Files are the names below /dev that containers may be given.
func (r Resource) Files() []string {
	numbers := make([]int, r.Count)
	for i := range numbers {
		numbers[i] = i
	}
	return r.filesOf(numbers)
}

func (r Resource) filesOf(numbers []int) []string {
	switch r.Kind {
	case Ascend:
		files := slices.Clone(ascendFiles)
		for _, number := range numbers {
			files = append(files, fmt.Sprintf("davinci%d", number))
		}
		return files
	case RDMA:
		return rdmaFiles
	default:
		return nil
	}
}

// Allocate is what a container gets for the devices.
func (r Resource) Allocate(devices []string) (*v1beta1.ContainerAllocateResponse, error) {
	numbers, err := r.numbers(devices)
	if err != nil {
		return nil, err
	}
	response := &v1beta1.ContainerAllocateResponse{}
	if r.Kind == AscendDocker {
		response.Envs = map[string]string{"ASCEND_VISIBLE_DEVICES": join(numbers), "ASCEND_RUNTIME_OPTIONS": ""}
	}
	for _, file := range r.filesOf(numbers) {
		path := "/dev/" + file
		response.Devices = append(response.Devices, &v1beta1.DeviceSpec{HostPath: path, ContainerPath: path, Permissions: r.permissions()})
	}
	for _, mount := range r.Mounts {
		response.Mounts = append(response.Mounts, &v1beta1.Mount{HostPath: mount.Host, ContainerPath: mount.Container, ReadOnly: true})
	}
	return response, nil
}

func (r Resource) numbers(devices []string) ([]int, error) {
	known := r.Devices()
	numbers := make([]int, 0, len(devices))
	for _, device := range devices {
		number := slices.Index(known, device)
		if number < 0 {
			return nil, fmt.Errorf("%s has no device %q", r.Name, device)
		}
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (r Resource) permissions() string {
	if r.Kind == RDMA {
		return "rwm"
	}
	return "rw"
}

func join(numbers []int) string {
	words := make([]string, len(numbers))
	for i, number := range numbers {
		words[i] = strconv.Itoa(number)
	}
	return strings.Join(words, ",")
}
