// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const testLimit = 20 * time.Second

// kubelet is a kubelet's side of the protocol: it takes registrations and calls back.
type kubelet struct {
	t          *testing.T
	directory  string
	server     *grpc.Server
	refuse     error
	registered chan *v1beta1.RegisterRequest
}

func startKubelet(t *testing.T, directory string) *kubelet {
	t.Helper()
	k := &kubelet{t: t, directory: directory, server: grpc.NewServer(), registered: make(chan *v1beta1.RegisterRequest, 100)}
	k.start()
	return k
}

func (k *kubelet) start() {
	k.t.Helper()
	listener, err := net.Listen("unix", filepath.Join(k.directory, kubeletSocket))
	if err != nil {
		k.t.Fatal(err)
	}
	v1beta1.RegisterRegistrationServer(k.server, k)
	go func() { _ = k.server.Serve(listener) }()
	k.t.Cleanup(k.server.Stop)
}

func (k *kubelet) Register(_ context.Context, request *v1beta1.RegisterRequest) (*v1beta1.Empty, error) {
	k.registered <- request
	return &v1beta1.Empty{}, k.refuse
}

func (k *kubelet) awaitRegistration() *v1beta1.RegisterRequest {
	k.t.Helper()
	return receive(k.t, k.registered, "a registration")
}

// call is the kubelet's connection to what was registered.
func (k *kubelet) call(request *v1beta1.RegisterRequest) v1beta1.DevicePluginClient {
	k.t.Helper()
	connection, err := dialSocket(filepath.Join(k.directory, request.Endpoint))
	if err != nil {
		k.t.Fatal(err)
	}
	k.t.Cleanup(func() { _ = connection.Close() })
	return v1beta1.NewDevicePluginClient(connection)
}

// watch gives health by device, each time it is told.
func (k *kubelet) watch(client v1beta1.DevicePluginClient) <-chan map[string]string {
	k.t.Helper()
	stream, err := client.ListAndWatch(k.t.Context(), &v1beta1.Empty{})
	if err != nil {
		k.t.Fatal(err)
	}
	told := make(chan map[string]string, 100)
	go func() {
		defer close(told)
		for {
			response, err := stream.Recv()
			if err != nil {
				return
			}
			health := map[string]string{}
			for _, device := range response.Devices {
				health[device.ID] = device.Health
			}
			told <- health
		}
	}()
	return told
}

func receive[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case value, ok := <-from:
		if !ok {
			t.Fatalf("the end came before %s", what)
		}
		return value
	case <-time.After(testLimit):
		t.Fatalf("waited in vain for %s", what)
		panic("not reached")
	}
}

// startPlugin serves until the test ends, or until the returned function is called.
func startPlugin(t *testing.T, options Options) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, options) }()
	stop := func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve ended with %v", err)
		}
		ended <- nil
	}
	t.Cleanup(stop)
	return stop
}

func optionsIn(directory string, resources ...Resource) Options {
	return Options{Resources: resources, PluginDir: directory, DevDir: directory, HealthFile: filepath.Join(directory, "health")}
}

var twoNPUs = Resource{Name: "huawei.com/Ascend910", Kind: AscendDocker, Count: 2}

func TestSeveralResourcesAreRegisteredByOneProcess(t *testing.T) {
	directory := t.TempDir()
	kubelet := startKubelet(t, directory)
	startPlugin(t, optionsIn(directory, twoNPUs, Resource{Name: "rdma/hca", Kind: RDMA, Count: 1}))

	names := map[string]bool{}
	for range 2 {
		request := kubelet.awaitRegistration()
		names[request.ResourceName] = true
		if request.Version != "v1beta1" || request.Options.PreStartRequired || request.Options.GetPreferredAllocationAvailable {
			t.Errorf("registered with %+v", request)
		}
		if offered, err := kubelet.call(request).GetDevicePluginOptions(t.Context(), &v1beta1.Empty{}); err != nil || !reflect.DeepEqual(offered, request.Options) {
			t.Errorf("offers %+v, %v, and registered with %+v", offered, err, request.Options)
		}
	}
	if !reflect.DeepEqual(names, map[string]bool{"huawei.com/Ascend910": true, "rdma/hca": true}) {
		t.Errorf("registered %v", names)
	}
}

func TestChangedHealthIsToldAtOnce(t *testing.T) {
	directory := t.TempDir()
	kubelet := startKubelet(t, directory)
	write(t, filepath.Join(directory, "health"), "Ascend910-0 Unhealthy")
	startPlugin(t, optionsIn(directory, twoNPUs))
	told := kubelet.watch(kubelet.call(kubelet.awaitRegistration()))
	expect := func(first, second string) {
		t.Helper()
		want := map[string]string{"Ascend910-0": first, "Ascend910-1": second}
		if got := receive(t, told, "devices"); !reflect.DeepEqual(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	}

	expect("Unhealthy", "Healthy")
	write(t, filepath.Join(directory, "health"), "Ascend910-1 Unhealthy")
	expect("Healthy", "Unhealthy")
	// Its network is the ConfigMap's matter; a file that says nothing counts for none of them.
	write(t, filepath.Join(directory, "health"), "Ascend910-1 broken")
	time.Sleep(2 * healthPoll)
	write(t, filepath.Join(directory, "health"), "Ascend910-0 Unhealthy\nAscend910-1 NetworkUnhealthy")
	expect("Unhealthy", "Healthy")
	if err := os.Remove(filepath.Join(directory, "health")); err != nil {
		t.Fatal(err)
	}
	expect("Healthy", "Healthy")
}

func TestEachContainerIsAnsweredAndUnknownDevicesRefused(t *testing.T) {
	directory := t.TempDir()
	kubelet := startKubelet(t, directory)
	startPlugin(t, optionsIn(directory, twoNPUs))
	client := kubelet.call(kubelet.awaitRegistration())
	ask := func(devices ...string) (*v1beta1.AllocateResponse, error) {
		request := &v1beta1.AllocateRequest{}
		for _, device := range devices {
			request.ContainerRequests = append(request.ContainerRequests, &v1beta1.ContainerAllocateRequest{DevicesIDs: []string{device}})
		}
		return client.Allocate(t.Context(), request)
	}

	response, err := ask("Ascend910-1", "Ascend910-0")
	if err != nil {
		t.Fatal(err)
	}
	var visible []string
	for _, container := range response.ContainerResponses {
		visible = append(visible, container.Envs["ASCEND_VISIBLE_DEVICES"])
	}
	if !reflect.DeepEqual(visible, []string{"1", "0"}) {
		t.Errorf("containers see %v", visible)
	}
	if _, err := ask("Ascend910-7"); status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), `no device "Ascend910-7"`) {
		t.Errorf("an unknown device: %v", err)
	}
	if _, err := client.GetPreferredAllocation(t.Context(), &v1beta1.PreferredAllocationRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("preferred allocation: %v", err)
	}
}

func TestItRegistersAgainWhenTheKubeletStartsAgain(t *testing.T) {
	directory := t.TempDir()
	before := startKubelet(t, directory)
	startPlugin(t, optionsIn(directory, twoNPUs))
	before.awaitRegistration()

	// Not before the registration is answered.
	before.server.GracefulStop()
	after := startKubelet(t, directory)
	told := after.watch(after.call(after.awaitRegistration()))
	if got := receive(t, told, "devices"); len(got) != 2 {
		t.Errorf("told %v", got)
	}
}

func TestItRegistersAgainWhenItsOwnSocketIsGone(t *testing.T) {
	directory := t.TempDir()
	kubelet := startKubelet(t, directory)
	startPlugin(t, optionsIn(directory, twoNPUs))
	if err := os.Remove(filepath.Join(directory, kubelet.awaitRegistration().Endpoint)); err != nil {
		t.Fatal(err)
	}
	told := kubelet.watch(kubelet.call(kubelet.awaitRegistration()))
	receive(t, told, "devices")
}

func TestItWaitsForTheKubelet(t *testing.T) {
	directory := t.TempDir()
	startPlugin(t, optionsIn(directory, twoNPUs))
	time.Sleep(2 * socketPoll)
	startKubelet(t, directory).awaitRegistration()
}

func TestItTriesAgainWhenTheKubeletRefuses(t *testing.T) {
	directory := t.TempDir()
	kubelet := &kubelet{
		t: t, directory: directory, server: grpc.NewServer(), registered: make(chan *v1beta1.RegisterRequest, 100), refuse: errors.New("not today"),
	}
	kubelet.start()
	startPlugin(t, optionsIn(directory, twoNPUs))
	kubelet.awaitRegistration()
	kubelet.awaitRegistration()
}

func TestNothingIsLeftWhenItEnds(t *testing.T) {
	directory := t.TempDir()
	kubelet := startKubelet(t, directory)
	stop := startPlugin(t, optionsIn(directory, twoNPUs))
	request := kubelet.awaitRegistration()
	told := kubelet.watch(kubelet.call(request))
	receive(t, told, "devices")

	stop()
	if _, open := <-told; open {
		t.Error("told devices behind its end")
	}
	if _, err := os.Stat(filepath.Join(directory, request.Endpoint)); !os.IsNotExist(err) {
		t.Errorf("its socket: %v", err)
	}
}
