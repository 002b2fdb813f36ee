{{- define "grantor.name" -}}
{{- if contains "grantor" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-grantor" (.Release.Name | trunc 42 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "grantor.selector" -}}
app.kubernetes.io/name: grantor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "grantor.labels" -}}
{{ include "grantor.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "grantor.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ with .tag }}:{{ . }}{{ end }}{{ with .digest }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}

{{/* The host of the issuer, without its port. */}}
{{- define "grantor.host" -}}
{{- (urlParse .Values.issuer).host | splitList ":" | first -}}
{{- end -}}

{{/* The settings of a node. The command of the Job reads the same ones. */}}
{{- define "grantor.env" -}}
- name: GRANTOR_ISSUER
  value: {{ .Values.issuer | quote }}
{{- with .Values.trustProxy }}
- name: GRANTOR_TRUST_PROXY
  value: {{ join "," . | quote }}
{{- end }}
- name: GRANTOR_ADMIN_PORT
  value: "3001"
{{- if .Values.admin.enabled }}
# The address of the public port, of which the image has the default.
- name: GRANTOR_ADMIN_HOST
  value: {{ .Values.settings.GRANTOR_HOST | default "0.0.0.0" | quote }}
{{- end }}
{{- with .Values.admin.consoleUrl }}
- name: GRANTOR_CONSOLE_URL
  value: {{ . | quote }}
{{- end }}
# The longest one: services and load balancers notice later than the pod that it ends.
- name: GRANTOR_DRAIN_SECONDS
  value: "4"
{{- if .Values.sqlite.enabled }}
# A folder of its own: the group may write to the root of the volume, and a node refuses such a folder.
- name: DATABASE_URL
  value: sqlite:/data/store/grantor.db
{{- else }}
- name: DATABASE_URL_FILE
  value: /run/secrets/grantor/database-url
{{- end }}
- name: GRANTOR_SECRET_FILE
  value: /run/secrets/grantor/secret
{{- if .Values.secrets.previousRoot.name }}
- name: GRANTOR_SECRET_PREVIOUS_FILE
  value: /run/secrets/grantor/secret-previous
{{- end }}
{{- if .Values.secrets.smtpUrl.name }}
- name: GRANTOR_SMTP_URL_FILE
  value: /run/secrets/grantor/smtp-url
{{- end }}
{{- if .Values.secrets.otlpHeaders.name }}
- name: OTEL_EXPORTER_OTLP_HEADERS_FILE
  value: /run/secrets/grantor/otlp-headers
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "grantor.secretVolume" -}}
- name: secrets
  projected:
    defaultMode: 288 # 0440
    sources:
      {{- include "grantor.secretSource" (list .Values.secrets.root "secret") | nindent 6 }}
      {{- if .Values.secrets.previousRoot.name }}
      {{- include "grantor.secretSource" (list .Values.secrets.previousRoot "secret-previous") | nindent 6 }}
      {{- end }}
      {{- if not .Values.sqlite.enabled }}
      {{- include "grantor.secretSource" (list .Values.secrets.databaseUrl "database-url") | nindent 6 }}
      {{- end }}
      {{- if .Values.secrets.smtpUrl.name }}
      {{- include "grantor.secretSource" (list .Values.secrets.smtpUrl "smtp-url") | nindent 6 }}
      {{- end }}
      {{- if .Values.secrets.otlpHeaders.name }}
      {{- include "grantor.secretSource" (list .Values.secrets.otlpHeaders "otlp-headers") | nindent 6 }}
      {{- end }}
{{- end -}}

{{- define "grantor.secretSource" -}}
- secret:
    name: {{ (first .).name }}
    items: [{ key: {{ (first .).key }}, path: {{ last . }} }]
{{- end -}}

{{/* What the pods of the nodes and of the Job have in common. */}}
{{- define "grantor.pod" -}}
automountServiceAccountToken: false
# The engine would set variables GRANTOR_* for a Service of this name, and a node refuses those that are no settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  # Otherwise each start would let the group write to the database, and a node refuses such a file.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "grantor.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}
