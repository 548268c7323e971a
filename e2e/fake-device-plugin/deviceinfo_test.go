// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheConfigMapTellsOfSickDevices(t *testing.T) {
	resources := []Resource{{Name: "huawei.com/Ascend910", Count: 4}, {Name: "rdma/hca", Kind: RDMA, Count: 1}}
	faults := map[string]Fault{"Ascend910-1": {unhealthy, "SeparateNPU", "81078603"}, "Ascend910-3": {networkUnhealthy, "RestartNPU", ""}}
	configMap := deviceInfoConfigMap("node-1", resources, faults, time.Unix(1700000000, 0))

	metadata := configMap["metadata"].(map[string]any)
	if metadata["name"] != "mindx-dl-deviceinfo-node-1" || metadata["namespace"] != "kube-system" {
		t.Errorf("metadata %v", metadata)
	}
	var config deviceInfoConfig
	if err := json.Unmarshal([]byte(configMap["data"].(map[string]string)["DeviceInfoCfg"]), &config); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"huawei.com/Ascend910":                  "Ascend910-0,Ascend910-2",
		"huawei.com/Ascend910-Unhealthy":        "Ascend910-1",
		"huawei.com/Ascend910-NetworkUnhealthy": "Ascend910-3",
		"huawei.com/Ascend910-Recovering":       "",
		"huawei.com/Ascend910-Fault": `[{"fault_type":"CardUnhealthy","npu_name":"Ascend910-1","fault_level":"SeparateNPU",` +
			`"fault_handling":"SeparateNPU","fault_code":"81078603"},{"fault_type":"CardNetworkUnhealthy","npu_name":"Ascend910-3",` +
			`"fault_level":"RestartNPU","fault_handling":"RestartNPU","fault_code":""}]`,
	}
	if !reflect.DeepEqual(config.DeviceInfo.DeviceList, want) || config.DeviceInfo.UpdateTime != 1700000000 || len(config.CheckCode) != 64 {
		t.Errorf("got %+v, want %v", config, want)
	}
}

func TestLabelsOfTheNodeAreWrittenAndTheConfigMapFollowsHealth(t *testing.T) {
	written := make(chan string, 100)
	refusals := 1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		paths := []string{"/api/v1/nodes/node-1", "/api/v1/namespaces/kube-system/configmaps/mindx-dl-deviceinfo-node-1"}
		if r.Method != http.MethodPatch || !slices.Contains(paths, r.URL.Path) ||
			r.Header.Get("Content-Type") != "application/apply-patch+yaml" || r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked for %s %s with %v", r.Method, r.URL, r.Header)
		}
		if refusals > 0 {
			refusals--
			w.WriteHeader(http.StatusForbidden)
			return
		}
		written <- string(body)
	}))
	defer server.Close()
	api := &clusterAPI{node: "node-1", base: server.URL, token: func() (string, error) { return "secret", nil }, client: server.Client()}
	health := newHealth()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		keepDeviceInfo(ctx, api, []Resource{twoNPUs}, health)
	}()

	labels := `{"apiVersion":"v1","kind":"Node","metadata":{"labels":{"accelerator":"huawei-Ascend910"},"name":"node-1"}}`
	if node := receive(t, written, "the node"); node != labels {
		t.Errorf("wrote %s", node)
	}
	if first := receive(t, written, "the ConfigMap"); !strings.Contains(first, `\"huawei.com/Ascend910-Unhealthy\":\"\"`) {
		t.Errorf("wrote %s", first)
	}
	health.set(map[string]Fault{"Ascend910-1": {State: unhealthy}})
	receive(t, written, "the node again")
	if second := receive(t, written, "the next ConfigMap"); !strings.Contains(second, `\"huawei.com/Ascend910-Unhealthy\":\"Ascend910-1\"`) {
		t.Errorf("wrote %s", second)
	}
	cancel()
	<-ended
}

func TestOutsideOfAPodNoConfigMapCanBeKept(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := deviceInfoAPI("node-1"); err == nil || !strings.Contains(err.Error(), "in a pod with a service account only") {
		t.Errorf("got %v", err)
	}
}
