{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{/* Name of everything in the release: the release's name, with the chart's unless it says it already. */}}
{{- define "kvpool.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 53 | trimSuffix "-" }}
{{- else if contains (include "kvpool.name" .) .Release.Name -}}
{{ .Release.Name | trunc 53 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name (include "kvpool.name" .) | trunc 53 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "kvpool.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 53 | trimSuffix "-" }}
{{- end -}}

{{- define "kvpool.serviceAccountName" -}}
{{ default (include "kvpool.fullname" .) .Values.serviceAccount.name }}
{{- end -}}

{{/* Labels that never change, so that they can select. */}}
{{- define "kvpool.selectorLabels" -}}
app.kubernetes.io/name: {{ include "kvpool.name" . }}-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kvpool.labels" -}}
{{ include "kvpool.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: operator
app.kubernetes.io/part-of: kvpool
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* "true" where the cluster gives pods their user and refuses others: as the values say, or as OpenShift does. */}}
{{- define "kvpool.platformUser" -}}
{{- if kindIs "bool" .Values.platformUser -}}
{{ .Values.platformUser }}
{{- else -}}
{{ .Capabilities.APIVersions.Has "security.openshift.io/v1" }}
{{- end -}}
{{- end -}}

{{/* Seconds of a number and s, m, h or d. */}}
{{- define "kvpool.seconds" -}}
{{- $units := dict "s" 1 "m" 60 "h" 3600 "d" 86400 -}}
{{- mul (regexFind "^[0-9]+" .) (get $units (regexFind "[smhd]$" .)) -}}
{{- end -}}

{{/* The life of certificate authorities, which the operator refuses at its start where it leaves no room for the next one. */}}
{{- define "kvpool.authorityLife" -}}
{{- with .Values.authorities -}}
{{- if lt (include "kvpool.seconds" .life | int64) (mul 2 (include "kvpool.seconds" .renewBefore)) -}}
{{- fail (printf "authorities.life must be at least twice authorities.renewBefore, and %s is not twice %s" .life .renewBefore) -}}
{{- end -}}
{{ .life }}
{{- end -}}
{{- end -}}

{{/* Image reference from {registry, repository, tag}; call with (list . .Values.image). */}}
{{- define "kvpool.imageReference" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- if $image.registry }}{{ $image.registry }}/{{ end }}{{ $image.repository }}:{{ default $root.Chart.AppVersion $image.tag }}
{{- end -}}
