{{- define "foresite.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "foresite.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "foresite.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "foresite.selector" -}}
app.kubernetes.io/name: {{ include "foresite.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "foresite.labels" -}}
{{ include "foresite.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "foresite.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "foresite.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "foresite.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* Why an install is refused here and not by a pod that does not start. */}}
{{- define "foresite.check" -}}
{{- $jwt := .Values.auth.jwt -}}
{{- if not .Values.database.existingSecret }}{{ fail "database.existingSecret: name the Secret that holds FORESITE_DATABASE_URL (postgres://…)" }}{{ end -}}
{{- if not .Values.redis.existingSecret }}{{ fail "redis.existingSecret: name the Secret that holds FORESITE_REDIS_URL (redis://…)" }}{{ end -}}
{{- if eq (empty .Values.objects.existingSecret) (empty .Values.objects.existingClaim) }}{{ fail "objects: set exactly one of existingSecret (s3://…) and existingClaim (ReadWriteMany)" }}{{ end -}}
{{- if and (or $jwt.jwksUrl $jwt.hs256.existingSecret) (not (and $jwt.issuer $jwt.audience)) }}{{ fail "auth.jwt: issuer and audience are required, or anybody's tokens would do" }}{{ end -}}
{{- if and (eq .Values.worker.autoscaling.kind "keda") (not .Values.worker.autoscaling.keda.address) }}{{ fail "worker.autoscaling.keda.address: write Redis' host:port" }}{{ end -}}
{{- if lt (.Values.worker.autoscaling.maxReplicas | int) (.Values.worker.autoscaling.minReplicas | int) }}{{ fail "worker.autoscaling: maxReplicas is below minReplicas" }}{{ end -}}
{{- end -}}

{{/* Who the pods are; `root` and `part`. */}}
{{- define "foresite.podMetadata" -}}
labels:
  {{- include "foresite.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .part }}
  {{- if ne .part "migrate" }}
  foresite.io/metrics: "true"
  {{- end }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What every pod has in common. Service links would set FORESITE_PORT and the like, which are no settings. */}}
{{- define "foresite.podCommon" -}}
enableServiceLinks: false
automountServiceAccountToken: false
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Where a pod may run; the values of one part. */}}
{{- define "foresite.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "foresite.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "foresite.secretEnv" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{- end -}}

{{/* Settings of serve and work alike. */}}
{{- define "foresite.env" -}}
{{ include "foresite.secretEnv" (dict "name" "FORESITE_DATABASE_URL" "secret" .Values.database.existingSecret "key" .Values.database.key) }}
{{ include "foresite.secretEnv" (dict "name" "FORESITE_REDIS_URL" "secret" .Values.redis.existingSecret "key" .Values.redis.key) }}
{{- if .Values.objects.existingClaim }}
- name: FORESITE_OBJECTS_URL
  value: file:///objects
{{- else }}
{{ include "foresite.secretEnv" (dict "name" "FORESITE_OBJECTS_URL" "secret" .Values.objects.existingSecret "key" .Values.objects.key) }}
{{- end }}
- name: FORESITE_DATA_DIR
  value: /tmp/foresite
- name: FORESITE_METRICS_LISTEN
  value: 0.0.0.0:9090
- name: FORESITE_LOG
  value: {{ .Values.log.filter | quote }}
- name: FORESITE_LOG_FORMAT
  value: {{ .Values.log.format | quote }}
- name: FORESITE_LEASE_SECONDS
  value: {{ .Values.worker.leaseSeconds | int64 | quote }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "foresite.mounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .Values.objects.existingClaim }}
- {name: objects, mountPath: /objects}
{{- end }}
{{- end -}}

{{- define "foresite.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: {{ .tmpSize }}
{{- with .root.Values.objects.existingClaim }}
- name: objects
  persistentVolumeClaim:
    claimName: {{ . }}
{{- end }}
{{- end -}}
