// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/grpc"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

type podResources struct {
	podresources.UnimplementedPodResourcesListerServer
}

func (*podResources) List(context.Context, *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	npus := func(devices ...string) *podresources.ContainerDevices {
		return &podresources.ContainerDevices{ResourceName: "huawei.com/Ascend910", DeviceIds: devices}
	}
	return &podresources.ListPodResourcesResponse{PodResources: []*podresources.PodResources{
		{Name: "store-0", Namespace: "kv", Containers: []*podresources.ContainerResources{
			{Name: "node", Devices: []*podresources.ContainerDevices{
				npus("Ascend910-3"), {ResourceName: "rdma/hca", DeviceIds: []string{"hca-7"}}, npus("Ascend910-1"),
			}},
			{Name: "sidecar"},
		}},
		{Name: "other", Namespace: "kv"},
	}}, nil
}

func TestDevicesOfContainersAreListedByResource(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "kubelet.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	podresources.RegisterPodResourcesListerServer(server, &podResources{})
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	held, err := allocations(t.Context(), socket)
	want := []Allocation{
		{"kv", "store-0", "node", "huawei.com/Ascend910", []string{"Ascend910-1", "Ascend910-3"}},
		{"kv", "store-0", "node", "rdma/hca", []string{"hca-7"}},
	}
	if err != nil || !reflect.DeepEqual(held, want) {
		t.Errorf("got %v, %v, want %v", held, err, want)
	}
}

func TestAKubeletThatIsNotThereIsNamed(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "kubelet.sock")
	var out, complaints bytes.Buffer
	status := run(t.Context(), []string{"allocations", "--socket", socket}, &out, &complaints)
	if status != exitFailure || !strings.Contains(complaints.String(), "the kubelet at "+socket) {
		t.Errorf("status %d: %s", status, complaints.String())
	}
}
