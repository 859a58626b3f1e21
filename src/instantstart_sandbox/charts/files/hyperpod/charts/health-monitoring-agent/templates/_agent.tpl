{{- define "agent.region" -}}
{{- default "us-west-2" (default .Values.global.region .Values.region) -}}
{{- end }}
{{- define "agent.image" -}}
905418368575.dkr.ecr.{{ include "agent.region" . }}.amazonaws.com/hyperpod-health-monitoring-agent:{{ .Values.tag }}
{{- end }}
{{- define "agent.daemonset" -}}
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .name }}
  namespace: {{ .root.Values.namespace }}
  labels:
    app: {{ .name }}
spec:
  selector:
    matchLabels:
      app: {{ .name }}
  template:
    metadata:
      labels:
        app: {{ .name }}
    spec:
      serviceAccountName: health-monitoring-agent
      affinity:
        nodeAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            nodeSelectorTerms:
              - matchExpressions:
                  - key: node.kubernetes.io/instance-type
                    operator: In
                    values: {{- toYaml .types | nindent 22 }}
      tolerations:
        - operator: Exists
          effect: NoSchedule
        - operator: Exists
          effect: NoExecute
      containers:
        - name: {{ .name }}
          image: {{ include "agent.image" .root }}
          imagePullPolicy: IfNotPresent
          env:
            - name: NODE_NAME
              valueFrom:
                fieldRef:
                  fieldPath: spec.nodeName
          resources:
            requests: {cpu: 500m, memory: 512Mi}
            limits: {cpu: 500m, memory: 512Mi}
          volumeMounts:
            - name: log
              mountPath: /var/log
      volumes:
        - name: log
          hostPath:
            path: /var/log/
{{- end }}
