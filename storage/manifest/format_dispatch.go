package manifest

import "context"

func (s *Store) decodeList(_ context.Context, name string, data []byte) ([]FileInfo, error) {
	return DecodeList("manifest list "+s.Path(name), data)
}

func (s *Store) decodeManifest(_ context.Context, name string, data []byte) ([]Entry, error) {
	return DecodeManifest("manifest "+s.Path(name), data)
}

func (s *Store) decodeIndex(_ context.Context, name string, data []byte) ([]IndexEntry, error) {
	return DecodeIndex("index manifest "+s.Path(name), data)
}
