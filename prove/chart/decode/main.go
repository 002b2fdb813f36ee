// Decodes the objects of rendered files strictly into the types of the API: an unknown member, a member of another type, a repeated
// key and an object of an unknown kind are mistakes. Prints "<kind> <name>" for each object; ends with 1 and the mistakes if there are any.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
)

func main() {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		apps.AddToScheme, batch.AddToScheme, core.AddToScheme, networking.AddToScheme, policy.AddToScheme,
		gateway.Install, monitoring.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	failed := false
	for _, path := range os.Args[1:] {
		if err := decodeFile(decoder, path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func decodeFile(decoder runtime.Decoder, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	reader := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	var mistakes []error
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(mistakes...)
		}
		if err != nil {
			return err
		}
		object, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		named, err := meta.Accessor(object)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s\n", kind.Kind, named.GetName())
	}
}
