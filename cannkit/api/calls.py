"""Which call of the ACL and of the runtime each public call stands for. Spec 02, sections 3.1, 8, 9; 04, 1.1."""

from __future__ import annotations

from typing import Final, NamedTuple


class Call(NamedTuple):
    """A call by its Python name; `acl` and `rt` are "" for none."""

    python: str
    acl: str
    rt: str = ""


# fmt: off
ACL_CALLS: Final = (
    Call("Runtime.create_binary", "aclrtCreateBinary"),
    Call("Runtime.destroy_binary", "aclrtDestroyBinary"),
    Call("Runtime.binary_load", "aclrtBinaryLoad", "rtBinaryLoadWithoutTilingKey"),
    Call("Runtime.unload", "aclrtBinaryUnLoad", "rtBinaryUnLoad"),
    Call("Runtime.load_from_file", "aclrtBinaryLoadFromFile", "rtsBinaryLoadFromFile"),
    Call("Runtime.load_from_data", "aclrtBinaryLoadFromData", "rtsBinaryLoadFromData"),
    Call("BinaryHandle.get_function", "aclrtBinaryGetFunction", "rtsFuncGetByName"),
    Call("BinaryHandle.get_function_by_entry", "aclrtBinaryGetFunctionByEntry", "rtsFuncGetByEntry"),
    Call("BinaryHandle.device_address", "aclrtBinaryGetDevAddress", "rtsBinaryGetDevAddress"),
    Call("BinaryHandle.get_global", "aclrtBinaryGetGlobal", "rtBinaryGetGlobal"),
    Call("BinaryHandle.set_exception_callback", "aclrtBinarySetExceptionCallback", "rtBinarySetExceptionCallback"),
    Call("FunctionHandle.name", "aclrtGetFunctionName", "rtsFuncGetName"),
    Call("FunctionHandle.addresses", "aclrtGetFunctionAddr", "rtsFuncGetAddr"),
    Call("FunctionHandle.sizes", "aclrtGetFunctionSize", "rtFuncGetSize"),
    Call("FunctionHandle.attribute", "aclrtGetFunctionAttribute", "rtFunctionGetAttribute"),
    Call("FunctionHandle.binary", "aclrtFunctionGetBinary", "rtFunctionGetBinary"),
    Call("FunctionHandle.param_count", "aclrtFunctionGetParamCount", "rtFunctionGetParamCount"),
    Call("FunctionHandle.param_info", "aclrtFunctionGetParamInfo", "rtFunctionGetParamInfo"),
    Call("FunctionHandle.available_dynamic_ubuf", "aclrtFunctionGetAvailDynUbufPerBlock", "rtFunctionGetAvailDynUbufPerBlock"),
    Call("Runtime.get_function_by_symbol", "aclrtGetFuncBySymbol", "rtGetFuncBySymbol"),
    Call("BinaryHandle.register_cpu_function", "aclrtRegisterCpuFunc", "rtsRegisterCpuFunc"),
    Call("Runtime.launch_kernel", "aclrtLaunchKernel", "rtLaunchKernelByFuncHandleV3"),
    Call("Runtime.launch_kernel_v2", "aclrtLaunchKernelV2", "rtsLaunchKernelWithDevArgs"),
    Call("Runtime.launch_kernel_with_config", "aclrtLaunchKernelWithConfig", "rtsLaunchKernelWithConfig"),
    Call("Runtime.launch_kernel_with_host_args", "aclrtLaunchKernelWithHostArgs", "rtsLaunchKernelWithHostArgs"),
    Call("Runtime.launch_kernel_with_args_array", "aclrtLaunchKernelWithArgsArray", "rtLaunchKernelWithArgsArray"),
    Call("Runtime.launch_simt_kernel_with_args_array", "aclrtLaunchSIMTKernelWithArgsArray", "rtLaunchSIMTKernelWithArgsArray"),
    Call("Runtime.launch_simt_kernel_with_host_args", "aclrtLaunchSIMTKernelWithHostArgs", "rtLaunchSIMTKernelWithHostArgs"),
    Call("Runtime.kernel_args", "aclrtKernelArgsInit"),
    Call("Runtime.kernel_args_append", "aclrtKernelArgsAppend"),
    Call("Runtime.kernel_args_append_placeholder", "aclrtKernelArgsAppendPlaceHolder"),
    Call("Runtime.kernel_args_placeholder_buffer", "aclrtKernelArgsGetPlaceHolderBuffer"),
    Call("Runtime.kernel_args_finalize", "aclrtKernelArgsFinalize"),
    Call("Runtime.kernel_args_update", "aclrtKernelArgsParaUpdate"),
    Call("Runtime.kernel_args_handle_size", "aclrtKernelArgsGetHandleMemSize"),
    Call("Runtime.kernel_args_memory_size", "aclrtKernelArgsGetMemSize"),
    Call("Runtime.create_stream", "aclrtCreateStream"),
    Call("Runtime.destroy_stream", "aclrtDestroyStream"),
    Call("Runtime.synchronize", "aclrtSynchronizeStream"),
    Call("Runtime.synchronize_device", "aclrtSynchronizeDevice"),
    Call("Runtime.query_stream", "aclrtStreamQuery"),
    Call("Runtime.set_stream_failure_mode", "aclrtSetStreamFailureMode"),
    Call("Runtime.capture_begin", "aclmdlRICaptureBegin"),
    Call("Runtime.capture_end", "aclmdlRICaptureEnd"),
    Call("Runtime.execute_capture", "aclmdlRIExecuteAsync"),
    Call("Runtime.set_device", "aclrtSetDevice"),
    Call("Runtime.reset_device", "aclrtResetDevice"),
    Call("Runtime.malloc", "aclrtMalloc"),
    Call("Runtime.malloc_align32", "aclrtMallocAlign32"),
    Call("Runtime.malloc_with_cfg", "aclrtMallocWithCfg"),
    Call("Runtime.malloc_cached", "aclrtMallocCached"),
    Call("Runtime.malloc_host", "aclrtMallocHost"),
    Call("Runtime.free", "aclrtFree"),
    Call("Runtime.free_host", "aclrtFreeHost"),
    Call("Runtime.memcpy", "aclrtMemcpy"),
    Call("Runtime.memcpy_async", "aclrtMemcpyAsync"),
    Call("Runtime.memset", "aclrtMemset"),
)

RT_CALLS: Final = (  # those without an ACL call
    Call("BinaryHandle.meta_count", "", "rtBinaryGetMetaNum"),
    Call("BinaryHandle.meta", "", "rtBinaryGetMetaInfo"),
    Call("FunctionHandle.meta_size", "", "rtFunctionGetMetaInfoSize"),
    Call("FunctionHandle.meta", "", "rtFunctionGetMetaInfo"),
    Call("BinaryHandle.register_function_symbol", "", "rtRegisterFuncSymbol"),
    Call("BinaryHandle.register_variable", "", "rtRegisterVariable"),
    Call("Runtime.get_symbol", "", "rtSymbolLookup"),
    Call("Runtime.load_old", "", "rtBinaryLoad"),
    Call("Runtime.register_all_kernels", "", "rtRegisterAllKernel"),
    Call("Runtime.register_binary", "", "rtDevBinaryRegister"),
    Call("Runtime.unregister_binary", "", "rtDevBinaryUnRegister"),
    Call("BinaryHandle.register_function", "", "rtFunctionRegister"),
    Call("BinaryHandle.register_metadata", "", "rtMetadataRegister"),
    Call("BinaryHandle.depend_on", "", "rtDependencyRegister"),
    Call("Runtime.stub_of", "", "rtGetFunctionByName"),
    Call("Runtime.query_function", "", "rtQueryFunctionRegistered"),
    Call("Runtime.stub_address", "", "rtGetAddrByFun"),
    Call("Runtime.stub_detail", "", "rtKernelGetAddrAndPrefCntV2"),
    Call("BinaryHandle.kernel_detail", "", "rtKernelGetAddrAndPrefCntV2"),
    Call("Runtime.launch_stub", "", "rtKernelLaunchWithFlagV2"),
    Call("Runtime.launch_with_key", "", "rtKernelLaunchWithHandleV2"),
    Call("Runtime.launch_cpu_kernel", "", "rtsLaunchCpuKernel"),
    Call("Runtime.launch_cpu_ex", "", "rtAicpuKernelLaunchExWithArgs"),
    Call("Runtime.launch_cpu_names", "", "rtCpuKernelLaunchWithFlag"),
    Call("Runtime.launch_framework", "", "rtKernelLaunchEx"),
)
# fmt: on
