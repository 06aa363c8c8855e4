"""The facts about the vendors' models: every file is valid, small, and loaded only when it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from abstractcore import Services
from abstractcore.catalogue import CatalogueProvider, ProviderModels, read_document
from abstractcore_providers.plugin import register_catalogues, register_providers

FILES = {file.name: file for file in register_catalogues()}


@pytest.mark.parametrize("provider", FILES)
def test_file_is_valid(provider: str):
    ProviderModels(provider, CatalogueProvider(read_document(FILES[provider].file), provider), None).check()


def test_files_are_of_registered_providers():
    assert set(FILES) <= {provider.name for provider in register_providers()}


def test_files_are_small():
    assert sum(len(read_document(file.file).text.encode()) for file in FILES.values()) < 420_000


def test_look_up_of_each_model_finds_its_row():
    services = Services(environment={})
    for provider in FILES:
        models = services.catalogue.models(provider)
        for name in models.names:
            assert models.entry(name).name == (models.alias(name) or name)


@pytest.mark.process
def test_no_file_is_read_before_a_model_is_looked_up():
    """The providers are listed, and an LLM of another one is created."""
    script = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "from abstractcore import Services, create_llm\n"
        "Services().registry.providers\n"
        "create_llm('scripted', replies=['a'])\n"
        "assert not [path for path in opened if path.endswith('.jsonl')], opened\n"
        "assert not {'abstractcore.catalogue.catalogue', 'platformdirs'} & sys.modules.keys()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
