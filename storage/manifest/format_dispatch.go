package manifest

import "context"

func (s *Store) decodeList(ctx context.Context, name string, data []byte) ([]FileInfo, error) {
	if kind := columnarFormat(data); kind != "" {
		return s.columnarList(ctx, name, kind, len(data))
	}
	return DecodeList(ctx, "manifest list "+s.Path(name), data)
}

func (s *Store) decodeManifest(ctx context.Context, name string, data []byte) ([]Entry, error) {
	if kind := columnarFormat(data); kind != "" {
		return s.columnarManifest(ctx, name, kind, len(data))
	}
	return DecodeManifest(ctx, "manifest "+s.Path(name), data)
}

func (s *Store) decodeIndex(ctx context.Context, name string, data []byte) ([]IndexEntry, error) {
	if kind := columnarFormat(data); kind != "" {
		return s.columnarIndex(ctx, name, kind, len(data))
	}
	return DecodeIndex(ctx, "index manifest "+s.Path(name), data)
}
