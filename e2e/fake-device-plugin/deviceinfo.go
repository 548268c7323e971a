// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	deviceInfoNamespace = "kube-system"
	deviceInfoPrefix    = "mindx-dl-deviceinfo-"

	serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"
	apiLimit       = 10 * time.Second
)

// Names and order of the fields are those of Ascend's plugin.
type deviceInfo struct {
	DeviceList map[string]string
	UpdateTime int64
}

type deviceInfoConfig struct {
	DeviceInfo deviceInfo
	CheckCode  string
}

type faultEntry struct {
	Type     string `json:"fault_type"`
	Device   string `json:"npu_name"`
	Level    string `json:"fault_level"`
	Handling string `json:"fault_handling"`
	Code     string `json:"fault_code"`
}

// deviceList says of each resource of NPUs which are well and which are not, and why.
func deviceList(resources []Resource, faults map[string]Fault) map[string]string {
	list := map[string]string{}
	for _, resource := range resources {
		if resource.Kind == RDMA {
			continue
		}
		byState := map[string][]string{}
		entries := []faultEntry{}
		for _, device := range resource.Devices() {
			fault := faults[device]
			byState[fault.State] = append(byState[fault.State], device)
			if fault.State != "" {
				entries = append(entries, faultEntry{"Card" + fault.State, device, fault.Level, fault.Level, fault.Code})
			}
		}
		list[resource.Name] = strings.Join(byState[""], ",")
		list[resource.Name+"-Unhealthy"] = strings.Join(byState[unhealthy], ",")
		list[resource.Name+"-NetworkUnhealthy"] = strings.Join(byState[networkUnhealthy], ",")
		list[resource.Name+"-Recovering"] = ""
		list[resource.Name+"-Fault"] = text(entries)
	}
	return list
}

func deviceInfoConfigMap(node string, resources []Resource, faults map[string]Fault, now time.Time) map[string]any {
	info := deviceInfo{DeviceList: deviceList(resources, faults), UpdateTime: now.Unix()}
	sum := sha256.Sum256([]byte(text(info)))
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "ConfigMap",
		"metadata": map[string]any{
			"name":      deviceInfoPrefix + node,
			"namespace": deviceInfoNamespace,
			"labels":    map[string]string{"mx-consumer-cim": "true"},
		},
		"data": map[string]string{
			"DeviceInfoCfg":       text(deviceInfoConfig{DeviceInfo: info, CheckCode: hex.EncodeToString(sum[:])}),
			"ManuallySeparateNPU": "",
		},
	}
}

// nodeWithLabels is what Ascend's installation makes of a node with NPUs: by these labels pods choose one.
func nodeWithLabels(node string) map[string]any {
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name":   node,
			"labels": map[string]string{"accelerator": "huawei-Ascend910"},
		},
	}
}

// text is for values of this file, all of which can be written as JSON.
func text(value any) string {
	written, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(written)
}

// clusterAPI is the API server of the pod's cluster, by the rights of the pod's service account.
type clusterAPI struct {
	node   string
	base   string
	token  func() (string, error)
	client *http.Client
}

// deviceInfoAPI is nil when no node's ConfigMap is to be kept.
func deviceInfoAPI(node string) (*clusterAPI, error) {
	if node == "" {
		return nil, nil
	}
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	authorities, err := os.ReadFile(filepath.Join(serviceAccount, "ca.crt"))
	pool := x509.NewCertPool()
	if host == "" || port == "" || err != nil || !pool.AppendCertsFromPEM(authorities) {
		return nil, errors.New("--device-info works in a pod with a service account only, and this is none")
	}
	return &clusterAPI{
		node: node,
		base: "https://" + net.JoinHostPort(host, port),
		token: func() (string, error) {
			// It is replaced within hours.
			token, err := os.ReadFile(filepath.Join(serviceAccount, "token"))
			return strings.TrimSpace(string(token)), err
		},
		client: &http.Client{
			Timeout:   apiLimit,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}},
		},
	}, nil
}

// keepDeviceInfo writes the node's labels and the ConfigMap, and both again whenever the health of a device has changed.
func keepDeviceInfo(ctx context.Context, api *clusterAPI, resources []Resource, health *Health) {
	said := ""
	for ctx.Err() == nil {
		faults, changed := health.Faults()
		err := api.apply(ctx, "nodes/"+api.node, nodeWithLabels(api.node))
		if err == nil {
			err = api.apply(ctx, "namespaces/"+deviceInfoNamespace+"/configmaps/"+deviceInfoPrefix+api.node,
				deviceInfoConfigMap(api.node, resources, faults, time.Now()))
		}
		if err != nil {
			if err.Error() != said && ctx.Err() == nil {
				log.Printf("cannot write labels of %s or %s%s: %v", api.node, deviceInfoPrefix, api.node, err)
				said = err.Error()
			}
			sleep(ctx, retryPause)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// apply makes the object at this path or brings it to this content, by one request.
func (a *clusterAPI) apply(ctx context.Context, path string, object map[string]any) error {
	url := fmt.Sprintf("%s/api/v1/%s?fieldManager=fake-device-plugin&force=true", a.base, path)
	request, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, bytes.NewBufferString(text(object)))
	if err != nil {
		return err
	}
	token, err := a.token()
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	// JSON is YAML.
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		answer, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
		return fmt.Errorf("the API server answered %s: %s", response.Status, answer)
	}
	return nil
}
