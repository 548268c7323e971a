// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Plugin answers the kubelet about one resource.
type Plugin struct {
	resource Resource
	health   *Health
}

// GetDevicePluginOptions says that neither PreStartContainer nor GetPreferredAllocation is to be called, as Ascend's plugin does.
func (p *Plugin) GetDevicePluginOptions(context.Context, *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	return &v1beta1.DevicePluginOptions{}, nil
}

// ListAndWatch sends all devices at once, and again whenever the health of any has changed.
func (p *Plugin) ListAndWatch(_ *v1beta1.Empty, stream v1beta1.DevicePlugin_ListAndWatchServer) error {
	for {
		faults, changed := p.health.Faults()
		if err := stream.Send(&v1beta1.ListAndWatchResponse{Devices: p.devices(faults)}); err != nil {
			return err
		}
		select {
		case <-changed:
		// Also when the server stops.
		case <-stream.Context().Done():
			return nil
		}
	}
}

func (p *Plugin) devices(faults map[string]Fault) []*v1beta1.Device {
	var devices []*v1beta1.Device
	for _, id := range p.resource.Devices() {
		health := v1beta1.Healthy
		if faults[id].State == unhealthy {
			health = v1beta1.Unhealthy
		}
		devices = append(devices, &v1beta1.Device{ID: id, Health: health})
	}
	return devices
}

// Allocate refuses a request for a device that the resource does not have; the kubelet then fails the pod.
func (p *Plugin) Allocate(_ context.Context, request *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	response := &v1beta1.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		allocated, err := p.resource.Allocate(container.DevicesIDs)
		if err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
		response.ContainerResponses = append(response.ContainerResponses, allocated)
	}
	return response, nil
}

// GetPreferredAllocation is not supported.
func (p *Plugin) GetPreferredAllocation(context.Context, *v1beta1.PreferredAllocationRequest) (*v1beta1.PreferredAllocationResponse, error) {
	return nil, status.Error(codes.Unimplemented, "no allocation is preferred")
}

// PreStartContainer has nothing to do.
func (p *Plugin) PreStartContainer(context.Context, *v1beta1.PreStartContainerRequest) (*v1beta1.PreStartContainerResponse, error) {
	return &v1beta1.PreStartContainerResponse{}, nil
}
