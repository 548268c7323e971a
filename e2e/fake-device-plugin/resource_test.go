// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"testing"

	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

func files(permissions string, paths ...string) []*v1beta1.DeviceSpec {
	var files []*v1beta1.DeviceSpec
	for _, path := range paths {
		files = append(files, &v1beta1.DeviceSpec{HostPath: path, ContainerPath: path, Permissions: permissions})
	}
	return files
}

func TestContainersGetWhatTheKindOfResourceBrings(t *testing.T) {
	cann := []Mount{{"/opt/cann", "/usr/local/Ascend"}}
	mounted := []*v1beta1.Mount{{HostPath: "/opt/cann", ContainerPath: "/usr/local/Ascend", ReadOnly: true}}
	for _, each := range []struct {
		name     string
		resource Resource
		devices  []string
		want     v1beta1.ContainerAllocateResponse
	}{
		{
			"device files, by number", Resource{"huawei.com/Ascend910", Ascend, 12, nil}, []string{"Ascend910-11", "Ascend910-2"},
			v1beta1.ContainerAllocateResponse{
				Devices: files("rw", "/dev/davinci_manager", "/dev/hisi_hdc", "/dev/devmm_svm", "/dev/davinci2", "/dev/davinci11"),
			},
		},
		{
			"environment, by number", Resource{"huawei.com/Ascend910", AscendDocker, 12, nil}, []string{"Ascend910-11", "Ascend910-2"},
			v1beta1.ContainerAllocateResponse{Envs: map[string]string{"ASCEND_VISIBLE_DEVICES": "2,11", "ASCEND_RUNTIME_OPTIONS": ""}},
		},
		{
			"libraries beside them", Resource{"huawei.com/npu", AscendDocker, 1, cann}, []string{"npu-0"},
			v1beta1.ContainerAllocateResponse{Envs: map[string]string{"ASCEND_VISIBLE_DEVICES": "0", "ASCEND_RUNTIME_OPTIONS": ""}, Mounts: mounted},
		},
		{
			"the one card", Resource{"rdma/hca_shared_devices_a", RDMA, 9, nil}, []string{"hca_shared_devices_a-8"},
			v1beta1.ContainerAllocateResponse{Devices: files("rwm", "/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs0", "/dev/infiniband/umad0")},
		},
	} {
		t.Run(each.name, func(t *testing.T) {
			got, err := each.resource.Allocate(each.devices)
			if err != nil || !reflect.DeepEqual(*got, each.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, each.want)
			}
		})
	}
}

func TestADeviceOfAnotherResourceIsRefused(t *testing.T) {
	_, err := Resource{"huawei.com/Ascend910", Ascend, 2, nil}.Allocate([]string{"Ascend910-0", "Ascend910-2"})
	if err == nil || err.Error() != `huawei.com/Ascend910 has no device "Ascend910-2"` {
		t.Errorf("got %v", err)
	}
}
