// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

const listLimit = 10 * time.Second

// Allocation is the devices of one resource that a container holds.
type Allocation struct {
	Namespace string   `json:"namespace"`
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Resource  string   `json:"resource"`
	Devices   []string `json:"devices"`
}

// allocations asks the kubelet.
func allocations(ctx context.Context, socket string) ([]Allocation, error) {
	connection, err := dialSocket(socket)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	answer, err := podresources.NewPodResourcesListerClient(connection).List(ctx, &podresources.ListPodResourcesRequest{})
	if err != nil {
		return nil, fmt.Errorf("the kubelet at %s: %w", socket, err)
	}
	held := []Allocation{}
	for _, pod := range answer.PodResources {
		for _, container := range pod.Containers {
			held = append(held, ofContainer(pod, container)...)
		}
	}
	return held, nil
}

// ofContainer adds up: the kubelet tells of devices by NUMA node.
func ofContainer(pod *podresources.PodResources, container *podresources.ContainerResources) []Allocation {
	var held []Allocation
	for _, devices := range container.Devices {
		i := slices.IndexFunc(held, func(a Allocation) bool { return a.Resource == devices.ResourceName })
		if i < 0 {
			i = len(held)
			held = append(held, Allocation{Namespace: pod.Namespace, Pod: pod.Name, Container: container.Name, Resource: devices.ResourceName})
		}
		held[i].Devices = append(held[i].Devices, devices.DeviceIds...)
		slices.Sort(held[i].Devices)
	}
	return held
}
