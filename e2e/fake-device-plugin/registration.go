// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	kubeletSocket = "kubelet.sock"

	socketPoll    = 200 * time.Millisecond
	registerLimit = 5 * time.Second
	retryPause    = time.Second
)

// serve answers the kubelet about all resources until the context ends.
func serve(ctx context.Context, options Options) error {
	var devices []string
	for _, resource := range options.Resources {
		if err := makeDeviceFiles(options.DevDir, resource.Files()); err != nil {
			return err
		}
		devices = append(devices, resource.Devices()...)
	}
	health := newHealth()
	if options.HealthFile != "" {
		faults, err := readFaults(options.HealthFile, devices)
		if err != nil {
			return err
		}
		health.set(faults)
	}
	api, err := deviceInfoAPI(options.DeviceInfoNode)
	if err != nil {
		return err
	}

	var tasks sync.WaitGroup
	start := func(task func()) {
		tasks.Add(1)
		go func() {
			defer tasks.Done()
			task()
		}()
	}
	if options.HealthFile != "" {
		start(func() { health.follow(ctx, options.HealthFile, devices) })
	}
	if api != nil {
		start(func() { keepDeviceInfo(ctx, api, options.Resources, health) })
	}
	for _, resource := range options.Resources {
		start(func() { keepRegistered(ctx, options.PluginDir, resource, health) })
	}
	tasks.Wait()
	return nil
}

// keepRegistered serves the resource, and again when the kubelet started again or removed the socket.
func keepRegistered(ctx context.Context, directory string, resource Resource, health *Health) {
	kubelet := filepath.Join(directory, kubeletSocket)
	said := ""
	for ctx.Err() == nil {
		before, err := os.Stat(kubelet)
		if err == nil {
			err = serveOnce(ctx, directory, before, resource, health)
		}
		pause := socketPoll
		if err != nil && ctx.Err() == nil {
			pause = retryPause
			if err.Error() != said {
				log.Printf("%s is not registered yet: %v", resource.Name, err)
				said = err.Error()
			}
		} else {
			said = ""
		}
		sleep(ctx, pause)
	}
}

// serveOnce returns nil when what was registered holds no more, and the reason when registering did not succeed.
func serveOnce(ctx context.Context, directory string, kubelet fs.FileInfo, resource Resource, health *Health) error {
	endpoint := "fake-" + strings.ReplaceAll(resource.Name, "/", "-") + ".sock"
	socket := filepath.Join(directory, endpoint)
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	v1beta1.RegisterDevicePluginServer(server, &Plugin{resource: resource, health: health})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		server.Stop()
		<-ended
	}()

	own, err := os.Stat(socket)
	if err != nil {
		return err
	}
	// The kubelet calls back at once, so the server is there before.
	if err := register(ctx, filepath.Join(directory, kubeletSocket), endpoint, resource.Name); err != nil {
		return err
	}
	log.Printf("%s is registered with %d devices", resource.Name, resource.Count)
	for sleep(ctx, socketPoll) {
		if !isStill(filepath.Join(directory, kubeletSocket), kubelet) {
			log.Printf("the kubelet's socket is another one: %s is registered again", resource.Name)
			return nil
		}
		if !isStill(socket, own) {
			log.Printf("the socket of %s is gone: it is registered again", resource.Name)
			return nil
		}
	}
	return nil
}

// isStill compares times too, since numbers of files are used again.
func isStill(path string, before fs.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(before, now) && before.ModTime().Equal(now.ModTime())
}

func register(ctx context.Context, kubelet, endpoint, resource string) error {
	connection, err := dialSocket(kubelet)
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(ctx, registerLimit)
	defer cancel()
	_, err = v1beta1.NewRegistrationClient(connection).Register(ctx, &v1beta1.RegisterRequest{
		Version:      v1beta1.Version,
		Endpoint:     endpoint,
		ResourceName: resource,
		Options:      &v1beta1.DevicePluginOptions{},
	})
	if err != nil {
		return fmt.Errorf("the kubelet at %s: %w", kubelet, err)
	}
	return nil
}

func dialSocket(path string) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
}
